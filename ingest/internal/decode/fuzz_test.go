package decode

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/anabranch/anabranch/ingest/internal/timestamp"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// FuzzDecode gives any bytes to every endpoint. What is accepted must be what
// the stages behind rely on; what is not must be refused by a rule.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"userId":"u","event":"e"}`,
		`{"batch":[{"type":"track","event":"e","userId":1,"messageId":2,"timestamp":3},null,{"type":"alias"}],"sentAt":"x","context":{"a":{}},"integrations":{"All":false}}`,
		`{"batch":[{"type":"page","anonymousId":"\ud800","context":[],"integrations":{"0":1,"b":2}}],"writeKey":"k","context":{"1":2},"batch":[{"type":"identify","userId":"\u0000"}]}`,
		`{"batch":[` + `[[[[[[[[[[[[[[[[` + `]}`,
		`{"userId":"u","groupId":1e999,"previousId":"p","event":"","name":[],"traits":[],"properties":{"__proto__":1}}`,
		"{\"userId\":\"\xff\xfe\",\"event\":\"\\u0041\",\"writeKey\":\"secret\"} ",
	} {
		for kind := range byte(8) {
			f.Add([]byte(seed), kind)
		}
	}
	d := new(Decoder)
	f.Fuzz(func(t *testing.T, body []byte, kind byte) {
		calls := []schemas.Type{"", schemas.TypeIdentify, schemas.TypeTrack, schemas.TypePage, schemas.TypeScreen, schemas.TypeGroup, schemas.TypeAlias}
		path := calls[int(kind)%len(calls)]
		events, rejected, err := decode(d, path, bytes.Clone(body))
		if err != nil {
			v, ok := errors.AsType[*schemas.Violation](err)
			if !ok || !slices.Contains(schemas.Codes(), v.Code) || v.Message == "" {
				t.Fatalf("%q: %#v", body, err)
			}
			return
		}
		if events.Len()+len(rejected) != len(d.calls) || len(d.calls) == 0 {
			t.Fatalf("%q: %d events and %d refusals of %d calls", body, events.Len(), len(rejected), len(d.calls))
		}
		size := 0
		for i := range events.Len() {
			e := events.At(i)
			checkEvent(t, &e)
			size += len(e.Value) + len(e.Key) + len(e.Integrations)
		}
		if size != events.Size() {
			t.Fatalf("%q: events of %d bytes say that they have %d", body, size, events.Size())
		}
		again, _, err := decode(new(Decoder), path, bytes.Clone(body))
		if err != nil || again.Len() != events.Len() || again.Len() > 0 && !sameKey(again.At(0), events.At(0)) {
			t.Fatalf("%q: another decoder has another result: %v", body, err)
		}
	})
}

// sameKey allows for a call without any id of somebody's, whose key is its messageId:
// it may have got one just now.
func sameKey(a, b Event) bool {
	return string(a.Key) == string(b.Key) || string(a.Key) == a.MessageID && string(b.Key) == b.MessageID
}

func checkJSON(t *testing.T, text []byte) {
	t.Helper()
	if stable, err := stablejson.Append(nil, text); err != nil || !bytes.Equal(stable, text) {
		t.Fatalf("%q is not stable JSON: %v", text, err)
	}
}

func checkEvent(t *testing.T, e *Event) {
	t.Helper()
	checkJSON(t, e.Value)
	var o stablejson.Object
	if err := o.Parse(e.Value); err != nil {
		t.Fatal(err)
	}
	if id, _ := stablejson.Text(o.Get("messageId")); id == "" || id != e.MessageID {
		t.Fatalf("%q: messageId is %q", e.Value, e.MessageID)
	}
	if name, _ := stablejson.Text(o.Get("type")); name != string(e.Type) {
		t.Fatalf("%q: type is %q", e.Value, e.Type)
	}
	if key := keyOf(&o); key == "" || key != string(e.Key) {
		t.Fatalf("%q: key is %q", e.Value, e.Key)
	}
	if o.Get("writeKey") != nil {
		t.Fatalf("%q holds a write key", e.Value)
	}
	if m := o.Get("integrations"); len(m) > len(`{}`) && !bytes.Equal(m, e.Integrations) || len(e.Integrations) > 0 && m == nil {
		t.Fatalf("%q: integrations are %s", e.Value, e.Integrations)
	}
	checkStamps(t, &o)
}

// keyOf is the first id of an event that stands for somebody.
func keyOf(o *stablejson.Object) string {
	var nobody *schemas.BlockedIDs
	for _, name := range []string{"userId", "anonymousId"} {
		if id, ok := stablejson.Text(o.Get(name)); ok && !nobody.Blocks([]byte(id)) {
			return id
		}
	}
	id, _ := stablejson.Text(o.Get("messageId"))
	return id
}

func checkStamps(t *testing.T, o *stablejson.Object) {
	t.Helper()
	for _, key := range []string{"timestamp", "receivedAt", "originalTimestamp", "sentAt"} {
		stamp := o.Get(key)
		if stamp == nil && key != "timestamp" && key != "receivedAt" {
			continue
		}
		if _, ok := timestamp.Parse(stamp); !ok || len(stamp) != len(`"`+schemas.TimeLayout+`"`) {
			t.Fatalf("%s is %s", key, stamp)
		}
	}
}

// FuzzTerms is FuzzDecode with everything that terms may ask for: whatever is
// filled in, marked, blocked or left out, what remains is an event.
func FuzzTerms(f *testing.F) {
	for _, seed := range []string{
		`{"batch":[{"type":"track","event":"e","userId":1},{"type":"alias","userId":"a\"","previousId":"b"}],"context":{"direct":true}}`,
		`{"batch":[{"type":"page","anonymousId":"n","context":{"protocols":{"violations":[]},"1":2}},{"type":"identify","userId":"u","context":{"ip":null}}]}`,
	} {
		f.Add([]byte(seed), true, byte('u'))
		f.Add([]byte(seed), false, byte('a'))
	}
	d := new(Decoder)
	f.Fuzz(func(t *testing.T, body []byte, fill bool, choice byte) {
		if d.Parse(bytes.Clone(body), "") != nil {
			return
		}
		rejected, err := d.Accept(Terms{
			ReceivedAt: noon, IP: client, FillIP: fill,
			Suppressed: func(id []byte) bool { return len(id) == 0 || id[0] == choice },
			Review: func(c *Call) *schemas.Violation {
				c.Mark(Finding{Path: string(c.Properties()), Message: string(c.Event())})
				if len(c.Event()) > 3 && c.Event()[1] == choice {
					return &schemas.Violation{Code: schemas.CodeEventNotString}
				}
				return nil
			},
		})
		if err != nil {
			return
		}
		accepted, blocked := d.Events(), d.Blocked()
		if got := accepted.Len() + blocked.Len() + d.Suppressed() + len(rejected); got != len(d.calls) {
			t.Fatalf("%q: %d of %d calls are accounted for", body, got, len(d.calls))
		}
		for i := range accepted.Len() {
			e := accepted.At(i)
			checkReviewed(t, &e, fill)
		}
		for i := range blocked.Len() {
			e := blocked.At(i)
			checkReviewed(t, &e, fill)
		}
	})
}

func checkReviewed(t *testing.T, e *Event, filled bool) {
	t.Helper()
	checkEvent(t, e)
	var event, context, protocols stablejson.Object
	if event.Parse(e.Value) != nil || context.Parse(event.Get("context")) != nil || protocols.Parse(context.Get("protocols")) != nil {
		t.Fatalf("%q has no marks", e.Value)
	}
	if stablejson.KindOf(protocols.Get("violations")) != stablejson.KindArray {
		t.Fatalf("%q: violations are %s", e.Value, protocols.Get("violations"))
	}
	if filled && context.Get("ip") == nil {
		t.Fatalf("%q has no ip", e.Value)
	}
}
