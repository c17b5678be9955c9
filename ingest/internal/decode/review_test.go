package decode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
)

func TestAReviewSeesTheWholeCall(t *testing.T) {
	var seen []string
	terms := Terms{Review: func(c *Call) *schemas.Violation {
		seen = append(seen, fmt.Sprintf("%s %s %s %s %s %s", c.Type(), c.Event(), c.Properties(), c.Traits(), c.Get("userId"), c.Get("context")))
		return nil
	}}
	accept(t, new(Decoder), "", `{"batch":[
		{"type":"track","event":"E","userId":1,"properties":{"b":1.0,"0":[]}},
		{"type":"identify","userId":"u","traits":[]},
		{"type":"page","userId":"u"}
	],"context":{"a":1}}`, terms)
	want := []string{
		`track "E" {"0":[],"b":1}  "1" {"a":1}`,
		`identify   {} "u" {"a":1}`,
		`page    "u" {"a":1}`,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestMarks(t *testing.T) {
	const found = `"violations":[{"path":"properties.\"a","message":"is\nmissing"},{"path":"event","message":"is not planned"}]`
	d := new(Decoder)
	for context, want := range map[string]string{
		``:                      `{"protocols":{` + found + `}}`,
		`{"a":1,"2":2}`:         `{"2":2,"a":1,"protocols":{` + found + `}}`,
		`{"protocols":5,"b":1}`: `{"protocols":{` + found + `},"b":1}`,
		`{"protocols":{"sourceId":"x","violations":[1]}}`: `{"protocols":{"sourceId":"x",` + found + `}}`,
	} {
		body := `{"userId":"u"}`
		if context != "" {
			body = `{"userId":"u","context":` + context + `}`
		}
		stored := accept(t, d, schemas.TypeIdentify, body, Terms{Review: func(c *Call) *schemas.Violation {
			c.Mark(Finding{Path: `properties."a`, Message: "is\nmissing"})
			c.Mark(Finding{Path: "event", Message: "is not planned"})
			return nil
		}})
		if got := contextOf(t, stored[0]); got != want {
			t.Errorf("%s: got %s, want %s", context, got, want)
		}
		if untouched := accept(t, d, schemas.TypeIdentify, `{"userId":"u"}`, Terms{Review: func(*Call) *schemas.Violation { return nil }}); contextOf(t, untouched[0]) != "" {
			t.Errorf("marks of the call before are left: %s", untouched)
		}
	}
}

func TestBlockedCallsAreHandedOutApart(t *testing.T) {
	d := new(Decoder)
	terms := Terms{ReceivedAt: noon, Review: func(c *Call) *schemas.Violation {
		if string(c.Event()) != `"Good"` {
			c.Mark(Finding{Path: "event", Message: "is not planned"})
			return &schemas.Violation{Code: "planned", Message: "event " + string(c.Event())}
		}
		return nil
	}}
	call := func(event, user string) string {
		return `{"type":"track","event":"` + event + `","userId":"` + user + `","messageId":"` + event + `","integrations":{"All":false}}`
	}
	body := `{"batch":[` + strings.Join([]string{call("Good", "a"), call("Bad", "b"), `{"type":"track"}`, call("Good", "c"), call("Worse", "d")}, ",") + `]}`
	if err := d.Parse([]byte(body), ""); err != nil {
		t.Fatal(err)
	}
	rejected, err := d.Accept(terms)
	if err != nil || len(rejected) != 1 || rejected[0].Index != 2 {
		t.Errorf("rejected %v, %v", rejected, err)
	}
	checkBlocked(t, d)
	var users []string
	for i := range d.Events().Len() {
		users = append(users, string(d.Events().At(i).Key))
	}
	if diff := cmp.Diff([]string{"a", "c"}, users); diff != "" {
		t.Errorf("accepted (-want +got):\n%s", diff)
	}
	if accept(t, d, schemas.TypeIdentify, `{"userId":"u"}`, Terms{}); d.Blocked().Len() != 0 {
		t.Error("what was blocked of the request before is left")
	}
}

// checkBlocked expects the calls Bad of b and Worse of d, marked.
func checkBlocked(t *testing.T, d *Decoder) {
	t.Helper()
	var got []string
	for i := range d.Blocked().Len() {
		e := d.Blocked().At(i)
		checkEvent(t, &e)
		got = append(got, fmt.Sprintf("%s %s: %s", e.Key, e.MessageID, d.Blocked().Violation(i).Message))
		if !strings.Contains(string(e.Value), `"protocols":{"violations":[{"path":"event"`) {
			t.Errorf("%s is not marked", e.Value)
		}
	}
	if diff := cmp.Diff([]string{`b Bad: event "Bad"`, `d Worse: event "Worse"`}, got); diff != "" {
		t.Errorf("blocked (-want +got):\n%s", diff)
	}
}
