package decode

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
)

// example is a body with all that comes of it.
type example struct {
	name     string
	path     schemas.Type // "" for a batch
	body     string
	rejected []string // index, messageId, code and message
	stored   []string // as render shows events
}

// checkAll decodes every body with one decoder: nothing may be left of one when
// the next comes.
func checkAll(t *testing.T, examples []example) {
	t.Helper()
	d := new(Decoder)
	for _, e := range examples {
		stored, rejected, err := decode(d, e.path, []byte(e.body))
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
		}
		var got, refused []string
		for i := range stored.Len() {
			got = append(got, render(stored.At(i)))
		}
		for _, r := range rejected {
			refused = append(refused, fmt.Sprintf("%d %s %v", r.Index, r.MessageID, &r.Violation))
		}
		if diff := cmp.Diff(e.stored, got); diff != "" {
			t.Errorf("%s: stored (-want +got):\n%s", e.name, diff)
		}
		if diff := cmp.Diff(e.rejected, refused); diff != "" {
			t.Errorf("%s: rejected (-want +got):\n%s", e.name, diff)
		}
	}
}

// noon is when every body of a test is received.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// tail is what ends every stored call without time stamps of its own.
const tail = `"timestamp":"2026-11-21T12:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"}`

func decode(d *Decoder, path schemas.Type, body []byte) (Events, []Refusal, error) {
	if err := d.Parse(body, path); err != nil {
		return Events{}, nil, err
	}
	rejected, err := d.Accept(Terms{ReceivedAt: noon})
	return d.Events(), rejected, err
}

// render shows an event as one text.
func render(e Event) string {
	text := string(e.Key) + " type=" + string(e.Type) + " message-id=" + e.MessageID
	if len(e.Integrations) > 0 {
		text += " integrations=" + string(e.Integrations)
	}
	return text + " " + string(e.Value)
}

// kept is an identify call that is stored with value, under key.
func kept(name, body, key, value string) example {
	return example{
		name: name, path: schemas.TypeIdentify, body: body,
		stored: []string{key + ` type=identify message-id=m ` + value},
	}
}

func TestIDs(t *testing.T) {
	checkAll(t, []example{
		kept("text", `{"userId":"u","messageId":"m"}`, "u", `{"userId":"u","messageId":"m","type":"identify",`+tail),
		kept("userId goes before anonymousId", `{"anonymousId":"a","userId":"u","messageId":"m"}`, "u", `{"anonymousId":"a","userId":"u","messageId":"m","type":"identify",`+tail),
		kept("null is absent", `{"userId":null,"anonymousId":"a","messageId":"m"}`, "a", `{"anonymousId":"a","messageId":"m","type":"identify",`+tail),
		kept("empty is absent", `{"userId":"","anonymousId":"a","groupId":"","previousId":null,"messageId":"m"}`, "a", `{"anonymousId":"a","messageId":"m","type":"identify",`+tail),
		kept("a number is text", `{"userId":12,"messageId":"m"}`, "12", `{"userId":"12","messageId":"m","type":"identify",`+tail),
		kept("as ECMAScript prints it", `{"userId":1e21,"anonymousId":1.50,"messageId":"m"}`, "1e+21", `{"userId":"1e+21","anonymousId":"1.5","messageId":"m","type":"identify",`+tail),
		kept("beyond 2^53", `{"userId":9007199254740993,"messageId":"m"}`, "9007199254740993", `{"userId":"9007199254740993","messageId":"m","type":"identify",`+tail),
		kept("overflow is null, so absent, and zero is nobody", `{"userId":1e999,"anonymousId":-0,"messageId":"m"}`, "m", `{"anonymousId":"0","messageId":"m","type":"identify",`+tail),
		kept("escapes", `{"userId":"a\u0041\n\"\/","messageId":"m"}`, "aA\n\"/", `{"userId":"aA\n\"/","messageId":"m","type":"identify",`+tail),
		kept("broken UTF-8", "{\"userId\":\"\xff\",\"messageId\":\"m\"}", "\uFFFD", "{\"userId\":\"\uFFFD\",\"messageId\":\"m\",\"type\":\"identify\","+tail),
		kept("duplicates: the last", `{"userId":"x","messageId":"m","userId":"u"}`, "u", `{"userId":"u","messageId":"m","type":"identify",`+tail),
		kept("a messageId that is a number", `{"userId":"u","messageId":7}`, "u", ``).instead(`u type=identify message-id=7 {"userId":"u","messageId":"7","type":"identify",` + tail),
		kept("a long one keeps its digits", `{"userId":"u","messageId":9007199254740993}`, "u", ``).instead(`u type=identify message-id=9007199254740993 {"userId":"u","messageId":"9007199254740993","type":"identify",` + tail),
		kept("one longer than a messageId is a number", `{"userId":"u","messageId":1`+strings.Repeat("0", 100)+`}`, "u", ``).instead(`u type=identify message-id=1e+100 {"userId":"u","messageId":"1e+100","type":"identify",` + tail),
	})
}

// instead returns the example with another record.
func (e example) instead(stored ...string) example {
	e.stored = stored
	return e
}

func TestMapsAndOtherMembers(t *testing.T) {
	value := func(middle string) string {
		return `{"userId":"u","messageId":"m",` + middle + `"type":"identify",` + tail
	}
	call := func(middle string) string {
		return `{"userId":"u","messageId":"m",` + strings.TrimSuffix(middle, ",") + `}`
	}
	var cases []example
	for _, c := range []struct{ sent, stored string }{
		{`"traits":{"b":1,"10":2,"9":3},`, `"traits":{"9":3,"10":2,"b":1},`},
		{`"traits":null,"properties":null,"context":null,"integrations":null,`, ``},
		{`"traits":[],"properties":[],"context":[],"integrations":[],`, `"traits":{},"properties":{},"context":{},"integrations":{},`},
		{`"context":"x","integrations":true,`, ``},
		{`"context":[1],"integrations":[[]],`, ``},
		{`"channel":"server","_metadata":{"a":[]},"sequence":3,"version":null,`, `"channel":"server","_metadata":{"a":[]},"sequence":3,"version":null,`},
		{`"writeKey":"wk_website",`, ``},
		{`"writeKey":{"x":1},`, ``},
		{`"receivedAt":"1999-01-01T00:00:00Z",`, `"receivedAt":"2026-11-21T12:00:00.000Z",`},
	} {
		e := kept(c.sent, call(c.sent), "u", value(c.stored))
		if strings.Contains(c.stored, "receivedAt") {
			// Set in place, it stands where the client had put it.
			e = kept(c.sent, call(c.sent), "u", `{"userId":"u","messageId":"m",`+c.stored+`"type":"identify","timestamp":"2026-11-21T12:00:00.000Z"}`)
		}
		cases = append(cases, e)
	}
	cases = append(cases, kept("integrations", call(`"integrations":{"All":false,"Webhooks":true}`), "u", "").instead(
		`u type=identify message-id=m integrations={"All":false,"Webhooks":true} `+value(`"integrations":{"All":false,"Webhooks":true},`)))
	checkAll(t, cases)
}

func TestBatchIsMergedIntoEachCall(t *testing.T) {
	event := `{"type":"identify","userId":"u","messageId":"m"`
	out := func(middle string) []string {
		return []string{`u type=identify message-id=m ` + event + middle + `,` + tail}
	}
	batch := func(name, before, own, behind, stored string) example {
		return example{name: name, body: `{` + before + `"batch":[` + event + own + `}]` + behind + `}`, stored: out(stored)}
	}
	const header = ` integrations={"X":false,"All":true} `
	withHeader := batch("integrations", ``, `,"integrations":{"X":false}`, `,"integrations":{"All":true,"X":true}`, `,"integrations":{"X":false,"All":true}`)
	withHeader.stored[0] = strings.Replace(withHeader.stored[0], " {", header+"{", 1)
	checkAll(t, []example{
		batch("before the calls", `"context":{"a":1},`, ``, ``, `,"context":{"a":1}`),
		batch("behind the calls", ``, ``, `,"context":{"a":1}`, `,"context":{"a":1}`),
		batch("own keys win, whole", ``, `,"context":{"b":{"x":1}}`, `,"context":{"a":1,"b":{"y":2}}`, `,"context":{"b":{"x":1},"a":1}`),
		batch("own null is absent", ``, `,"context":null`, `,"context":{"a":1}`, `,"context":{"a":1}`),
		batch("PHP's own empty map", ``, `,"context":[]`, `,"context":{"a":1}`, `,"context":{"a":1}`),
		batch("the batch's null", ``, `,"context":{"b":2}`, `,"context":null`, `,"context":{"b":2}`),
		batch("the batch's is no object", ``, ``, `,"context":"x"`, ``),
		batch("the batch's empty", ``, ``, `,"context":{}`, ``),
		batch("the last of two", `"context":{"a":1},`, ``, `,"context":{"b":2}`, `,"context":{"b":2}`),
		withHeader,
	})
}

func TestTimes(t *testing.T) {
	var cases []example
	for name, c := range map[string]struct{ sent, stored string }{
		"none":             {``, `"timestamp":"2026-11-21T12:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"clock ahead":      {`,"timestamp":"2026-11-21T12:59:50Z","sentAt":"2026-11-21T13:00:00Z"`, `"timestamp":"2026-11-21T11:59:50.000Z","sentAt":"2026-11-21T13:00:00.000Z","originalTimestamp":"2026-11-21T12:59:50.000Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"historical":       {`,"timestamp":"2012-12-02T00:30:08.276+00:00"`, `"timestamp":"2012-12-02T00:30:08.276Z","originalTimestamp":"2012-12-02T00:30:08.276Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"original first":   {`,"timestamp":"2026-01-01","originalTimestamp":1795223069458`, `"timestamp":"2026-11-21T01:04:29.458Z","originalTimestamp":"2026-11-21T01:04:29.458Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"RudderStack's":    {`,"channel":"server","timestamp":"2026-01-01","originalTimestamp":1795223069458`, `"channel":"server","timestamp":"2026-01-01T00:00:00.000Z","originalTimestamp":"2026-01-01T00:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"its original":     {`,"channel":"web","timestamp":"yesterday","originalTimestamp":1795223069458`, `"channel":"web","timestamp":"2026-11-21T01:04:29.458Z","originalTimestamp":"2026-11-21T01:04:29.458Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"unreadable":       {`,"timestamp":"yesterday","sentAt":"2026-11-21T13:00:00Z"`, `"timestamp":"2026-11-21T12:00:00.000Z","sentAt":"2026-11-21T13:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"sentAt null":      {`,"timestamp":"2026-11-21T11:00:00Z","sentAt":null`, `"timestamp":"2026-11-21T11:00:00.000Z","originalTimestamp":"2026-11-21T11:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"beyond all years": {`,"timestamp":"0001-01-01T00:00:00Z","sentAt":"9999-01-01T00:00:00Z"`, `"timestamp":"2026-11-21T12:00:00.000Z","sentAt":"9999-01-01T00:00:00.000Z","originalTimestamp":"0001-01-01T00:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
	} {
		cases = append(cases, kept(name, `{"userId":"u","messageId":"m","type":"identify"`+c.sent+`}`, "u", `{"userId":"u","messageId":"m","type":"identify",`+c.stored+`}`))
	}
	batch := func(name, own, stored string) example {
		return example{
			name:   name,
			body:   `{"batch":[{"type":"identify","userId":"u","messageId":"m","timestamp":"2026-11-21T11:00:00Z"` + own + `}],"timestamp":"2000-01-01","sentAt":"2026-11-21T11:00:10+0000"}`,
			stored: []string{`u type=identify message-id=m {"type":"identify","userId":"u","messageId":"m","timestamp":"` + stored + `","originalTimestamp":"2026-11-21T11:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"}`},
		}
	}
	own := batch("own sentAt first", `,"sentAt":"2026-11-21T11:00:01Z"`, `2026-11-21T11:59:59.000Z","sentAt":"2026-11-21T11:00:01.000Z`)
	of := batch("the batch's sentAt", ``, `2026-11-21T11:59:50.000Z`)
	of.stored[0] = strings.Replace(of.stored[0], `,"receivedAt"`, `,"sentAt":"2026-11-21T11:00:10.000Z","receivedAt"`, 1)
	checkAll(t, append(cases, own, of))
}

// TestCodes sends each bad call alone and inside a good batch.
func TestCodes(t *testing.T) {
	var cases []example
	for _, c := range []struct{ kind, call, code, message string }{
		{"identify", `{}`, "no_user_anon_id", "identify: found neither, expected a userId or an anonymousId"},
		{"track", `{"event":"E","userId":null,"anonymousId":""}`, "no_user_anon_id", "track: found neither, expected a userId or an anonymousId"},
		{"track", `{"event":"E","userId":true}`, "no_user_anon_id", "userId: expected a string or a number"},
		{"track", `{"event":"E","userId":"u","anonymousId":{}}`, "no_user_anon_id", "anonymousId: expected a string or a number"},
		{"group", `{"userId":"u"}`, "id_required", "group: found no groupId, expected a string that is not empty"},
		{"group", `{"userId":"u","groupId":["g"]}`, "id_required", "groupId: expected a string or a number"},
		{"alias", `{"userId":"u"}`, "id_required", "alias: found no previousId, expected a string that is not empty"},
		{"alias", `{"previousId":"p","anonymousId":"a"}`, "id_required", "alias: found no userId, expected a string that is not empty"},
		{"track", `{"userId":"u"}`, "event_not_defined", "track: found nothing for event, expected its name"},
		{"track", `{"userId":"u","event":""}`, "event_not_defined", "track: found an empty string for event, expected its name"},
		{"track", `{"userId":"u","event":1}`, "event_not_string", "track: found a number for event, expected a string"},
		{"track", `{"userId":"u","event":"E","properties":"x"}`, "properties_not_object", "track: found a string for properties, expected an object"},
		{"page", `{"userId":"u","properties":[1]}`, "properties_not_object", "page: found an array for properties, expected an object"},
		{"identify", `{"userId":"u","traits":0}`, "traits_not_object", "identify: found a number for traits, expected an object"},
		{"group", `{"userId":"u","groupId":"g","traits":false}`, "traits_not_object", "group: found a boolean for traits, expected an object"},
		{"screen", `{"userId":"u","name":{}}`, "name_not_string", "screen: found an object for name, expected a string"},
	} {
		inBatch := strings.Replace(c.call, "{", `{"type":"`+c.kind+`","messageId":"bad",`, 1)
		inBatch = strings.Replace(inBatch, ",}", "}", 1)
		cases = append(cases,
			example{name: c.call, path: schemas.Type(c.kind), body: c.call, rejected: []string{"0  " + c.code + ": " + c.message}},
			refusedAlone("batch: "+c.call, inBatch, "bad", c.code, c.message))
	}
	for call, message := range map[string]string{
		`{"userId":"u","messageId":"bad"}`:                  "found no type, expected one of identify, track, page, screen, group, alias",
		`{"type":null,"userId":"u","messageId":"bad"}`:      "found no type, expected one of identify, track, page, screen, group, alias",
		`{"type":"Track","userId":"u","messageId":"bad"}`:   `found type "Track", expected one of identify, track, page, screen, group, alias`,
		`{"type":"delete","userId":"u","messageId":"bad"}`:  `found type "delete", expected one of identify, track, page, screen, group, alias`,
		`{"type":["track"],"userId":"u","messageId":"bad"}`: "found no type, expected one of identify, track, page, screen, group, alias",
	} {
		cases = append(cases, refusedAlone("type: "+call, call, "bad", "type_unknown", message))
	}
	for _, call := range []string{`null`, `1`, `"x"`, `[]`, `true`} {
		cases = append(cases, refusedAlone("no object: "+call, call, "", "invalid_json", "the call is not a JSON object"))
	}
	deep := `{"type":"track","event":"E","userId":"u","messageId":"bad","properties":` + strings.Repeat(`{"a":`, 600) + `["]}"]` + strings.Repeat(`}`, 600) + `}`
	cases = append(cases, refusedAlone("too deep", deep, "bad", "too_large", "with the batch around it the call is nested deeper than 512 levels"))
	checkAll(t, cases)
}

// refusedAlone is a batch of a bad call between two good ones.
func refusedAlone(name, bad, id, code, message string) example {
	const good = `{"type":"track","event":"E","userId":"u","messageId":"good"}`
	stored := `u type=track message-id=good {"type":"track","event":"E","userId":"u","messageId":"good",` + tail
	return example{
		name: name, body: `{"batch":[` + good + `,` + bad + `,` + good + `]}`,
		rejected: []string{"1 " + id + " " + code + ": " + message},
		stored:   []string{stored, stored},
	}
}

func TestMessageIDsAreMadeUp(t *testing.T) {
	sent := []string{``, `,"messageId":null`, `,"messageId":""`, `,"messageId":{"a":1}`, `,"messageId":true`}
	shape := regexp.MustCompile(`message-id=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) .*"messageId":"([^"]*)"`)
	seen := make(map[string]bool)
	for _, id := range sent {
		stored, _, err := decode(new(Decoder), schemas.TypeIdentify, []byte(`{"userId":"u"`+id+`}`))
		if err != nil || stored.Len() != 1 {
			t.Fatalf("%s: %d events, %v", id, stored.Len(), err)
		}
		text := render(stored.At(0))
		found := shape.FindStringSubmatch(text)
		if found == nil || found[1] != found[2] {
			t.Errorf("%s: stored %s", id, text)
			continue
		}
		seen[found[1]] = true
	}
	if len(seen) != len(sent) {
		t.Errorf("got %d different ids, want %d", len(seen), len(sent))
	}
}

// TestMemoryOfALargeRequestIsNotKept asks for decoders until the pool is empty.
func TestMemoryOfALargeRequestIsNotKept(t *testing.T) {
	many := `{"batch":[` + strings.TrimSuffix(strings.Repeat(`1,`, keepCalls+1), ",") + `]}`
	long := `{"batch":[],"pad":"` + strings.Repeat("x", keepBody) + `"}`
	call := `{"type":"identify","userId":"u"},`
	grown := `{"context":{"a":"` + strings.Repeat("x", keepBody/2) + `"},"batch":[` + strings.TrimSuffix(strings.Repeat(call, 5), ",") + `]}`
	for name, body := range map[string]string{"many calls": many, "a long body": long, "a long result": grown} {
		var p Pool
		large := p.Get()
		_, _, _ = decode(large, "", []byte(body))
		p.Put(large)
		if p.Get() == large {
			t.Errorf("%s: the decoder was kept", name)
		}
	}
}

// TestARefusedBatchLeavesNothingBehind decodes a batch that is none after one
// that has something to report.
func TestARefusedBatchLeavesNothingBehind(t *testing.T) {
	d := new(Decoder)
	if _, _, err := decode(d, schemas.TypeIdentify, []byte(`{"userId":"u","timestamp":"x"}`)); err != nil || d.Unreadable() != 1 {
		t.Fatalf("%d unreadable, %v", d.Unreadable(), err)
	}
	events, _, err := decode(d, "", []byte(`{"batch":[]}`))
	if err == nil || events.Len() != 0 || d.Unreadable() != 0 {
		t.Errorf("%d events and %d unreadable of a batch without calls, %v", events.Len(), d.Unreadable(), err)
	}
}
