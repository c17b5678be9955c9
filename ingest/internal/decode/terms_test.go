package decode

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

var client = netip.MustParseAddr("203.0.113.7")

// accept decodes a body on terms, and shows the values of what is accepted.
func accept(t *testing.T, d *Decoder, path schemas.Type, body string, terms Terms) []string {
	t.Helper()
	if err := d.Parse([]byte(body), path); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	terms.ReceivedAt = noon
	rejected, err := d.Accept(terms)
	if err != nil || rejected != nil {
		t.Fatalf("%s: %v, %v", body, rejected, err)
	}
	var values []string
	for i := range d.Events().Len() {
		values = append(values, string(d.Events().At(i).Value))
	}
	return values
}

// contextOf returns the stable context of an event, "" for none.
func contextOf(t *testing.T, value string) string {
	t.Helper()
	checkJSON(t, []byte(value))
	var o stablejson.Object
	if err := o.Parse([]byte(value)); err != nil {
		t.Fatal(err)
	}
	return string(o.Get(keyContext))
}

func TestFillIP(t *testing.T) {
	const ip = `"ip":"203.0.113.7"`
	d := new(Decoder)
	for _, c := range []struct {
		context             string // of the call; "" for none
		fromPage, otherwise string
	}{
		{``, `{` + ip + `}`, ``},
		{`null`, `{` + ip + `}`, ``},
		{`{}`, `{` + ip + `}`, `{}`},
		{`[]`, `{` + ip + `}`, `{}`},
		{`{"a":1}`, `{"a":1,` + ip + `}`, `{"a":1}`},
		{`{"7":1,"a":{"ip":"x"}}`, `{"7":1,"a":{"ip":"x"},` + ip + `}`, `{"7":1,"a":{"ip":"x"}}`},
		{`{"ip":"0.0.0.0"}`, `{"ip":"0.0.0.0"}`, `{"ip":"0.0.0.0"}`},
		{`{"\u0069p":"x"}`, `{"ip":"x"}`, `{"ip":"x"}`},
		{`{"ip":null}`, `{"ip":null}`, `{"ip":null}`},
		{`{"ip":""}`, `{"ip":""}`, `{"ip":""}`},
		{`{"direct":true}`, `{"direct":true,` + ip + `}`, `{"direct":true,` + ip + `}`},
		{`{"direct":true,"ip":"x"}`, `{"direct":true,"ip":"x"}`, `{"direct":true,"ip":"x"}`},
		{`{"direct":false}`, `{"direct":false,` + ip + `}`, `{"direct":false}`},
		{`{"direct":"true"}`, `{"direct":"true",` + ip + `}`, `{"direct":"true"}`},
		{`{"a":{"direct":true}}`, `{"a":{"direct":true},` + ip + `}`, `{"a":{"direct":true}}`},
		{`{"a":"\"direct\":true \"ip\":1"}`, `{"a":"\"direct\":true \"ip\":1",` + ip + `}`, `{"a":"\"direct\":true \"ip\":1"}`},
	} {
		body := `{"userId":"u"}`
		if c.context != "" {
			body = `{"userId":"u","context":` + c.context + `}`
		}
		for fill, want := range map[bool]string{true: c.fromPage, false: c.otherwise} {
			stored := accept(t, d, schemas.TypeIdentify, body, Terms{IP: client, FillIP: fill})
			if got := contextOf(t, stored[0]); got != want {
				t.Errorf("%s, from a page %v: got %s, want %s", body, fill, got, want)
			}
		}
		stored := accept(t, d, schemas.TypeIdentify, body, Terms{FillIP: true})
		if got := contextOf(t, stored[0]); strings.Contains(got, "203") {
			t.Errorf("%s: got %s although the address is not known", body, got)
		}
	}
}

// TestFillIPAfterTheMerge has the batch say what its calls do not.
func TestFillIPAfterTheMerge(t *testing.T) {
	const calls = `"batch":[{"type":"identify","userId":"a"},{"type":"identify","userId":"b","context":{"ip":"b"}},{"type":"identify","userId":"c","context":{"direct":true}}]`
	d := new(Decoder)
	for _, c := range []struct {
		batch string
		want  []string
	}{
		{`{` + calls + `}`, []string{``, `{"ip":"b"}`, `{"direct":true,"ip":"2001:db8::7"}`}},
		{`{` + calls + `,"context":{"ip":"0.0.0.0"}}`, []string{`{"ip":"0.0.0.0"}`, `{"ip":"b"}`, `{"direct":true,"ip":"0.0.0.0"}`}},
		{`{` + calls + `,"context":{"direct":true}}`, []string{`{"direct":true,"ip":"2001:db8::7"}`, `{"ip":"b","direct":true}`, `{"direct":true,"ip":"2001:db8::7"}`}},
	} {
		var got []string
		for _, value := range accept(t, d, "", c.batch, Terms{IP: netip.MustParseAddr("2001:db8::7")}) {
			got = append(got, contextOf(t, value))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.batch, got, c.want)
		}
	}
}

func TestSuppressedUsers(t *testing.T) {
	asked := make(map[string]bool)
	terms := Terms{Suppressed: func(id []byte) bool {
		asked[string(id)] = true
		return bytes.HasPrefix(id, []byte("no")) || string(id) == "a\"b\u00e9"
	}}
	d := new(Decoder)
	stored := accept(t, d, "", `{"batch":[
		{"type":"identify","userId":"no-1"},
		{"type":"track","event":"e","userId":"yes","anonymousId":"no-2"},
		{"type":"track","event":"e","anonymousId":"no-3"},
		{"type":"alias","userId":"yes","previousId":"no-4"},
		{"type":"alias","userId":"no-5","previousId":"yes"},
		{"type":"alias","userId":"yes","previousId":"yes"},
		{"type":"identify","userId":"yes","previousId":"no-6"},
		{"type":"identify","userId":"a\"b\u00e9"},
		{"type":"identify","userId":17}
	]}`, terms)
	if len(stored) != 5 || d.Suppressed() != 4 {
		t.Errorf("stored %d, suppressed %d: %v", len(stored), d.Suppressed(), stored)
	}
	for _, id := range []string{"no-2", "no-3", "no-6"} {
		if asked[id] {
			t.Errorf("asked for %s, which is no user's", id)
		}
	}
	if !asked["17"] {
		t.Error("a numeric id was not asked for as text")
	}
	if accept(t, d, schemas.TypeIdentify, `{"userId":"no-1"}`, Terms{}); d.Suppressed() != 0 {
		t.Error("the count of the request before is left")
	}
}

// TestABadCallOfASuppressedUserIsRefused: the SDK's author should hear of it all
// the same.
func TestABadCallOfASuppressedUserIsRefused(t *testing.T) {
	d := new(Decoder)
	if err := d.Parse([]byte(`{"userId":"u"}`), schemas.TypeTrack); err != nil {
		t.Fatal(err)
	}
	rejected, err := d.Accept(Terms{ReceivedAt: noon, Suppressed: func([]byte) bool { return true }})
	if err != nil || len(rejected) != 1 || d.Suppressed() != 0 {
		t.Errorf("got %v, %v, %d suppressed", rejected, err, d.Suppressed())
	}
}

// TestTermsAreNotHeldOnTo: a pooled decoder must not keep a request's functions
// and what they hold.
func TestTermsAreNotHeldOnTo(t *testing.T) {
	d := new(Decoder)
	accept(t, d, schemas.TypeIdentify, `{"userId":"u"}`, Terms{
		IP: client, Suppressed: func([]byte) bool { return false }, Review: func(*Call) *schemas.Violation { return nil },
	})
	if d.press.terms.Suppressed != nil || d.press.terms.Review != nil || d.press.review.members != nil {
		t.Error("the decoder holds on to the terms of its last request")
	}
}

// TestTermsCostNothingUnlessUsed counts allocations of a call whose messageId is
// all that must be copied.
func TestTermsCostNothingUnlessUsed(t *testing.T) {
	body := []byte(`{"batch":[{"type":"track","event":"e","userId":"u","messageId":"m","context":{"library":{"name":"x"},"direct":true}}]}`)
	allocations := func(terms Terms) float64 {
		d := new(Decoder)
		terms.ReceivedAt = noon
		return testing.AllocsPerRun(100, func() {
			if err := d.Parse(body, ""); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Accept(terms); err != nil {
				t.Fatal(err)
			}
		})
	}
	plain := allocations(Terms{})
	for name, terms := range map[string]Terms{
		"an address":            {IP: client},
		"an address to fill in": {IP: client, FillIP: true},
		"suppressed users":      {Suppressed: func([]byte) bool { return false }},
		"a review":              {Review: func(*Call) *schemas.Violation { return nil }},
	} {
		if n := allocations(terms); n > plain {
			t.Errorf("%s: %v allocations, %v without", name, n, plain)
		}
	}
}
