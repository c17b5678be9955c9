package ingest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/testkit"
)

// kept is an exchange with /v1/identify whose call is stored with value, under
// key.
func kept(name, body, key, value string) exchange {
	return exchange{
		name: name, path: "/v1/identify", body: body,
		stored: []string{key + ` source=website type=identify message-id=m origin=api ` + value},
	}
}

func TestIDs(t *testing.T) {
	exchangeAll(t, []exchange{
		kept("text", `{"userId":"u","messageId":"m"}`, "u", `{"userId":"u","messageId":"m","type":"identify",`+tail),
		kept("userId goes before anonymousId", `{"anonymousId":"a","userId":"u","messageId":"m"}`, "u", `{"anonymousId":"a","userId":"u","messageId":"m","type":"identify",`+tail),
		kept("null is absent", `{"userId":null,"anonymousId":"a","messageId":"m"}`, "a", `{"anonymousId":"a","messageId":"m","type":"identify",`+tail),
		kept("empty is absent", `{"userId":"","anonymousId":"a","groupId":"","previousId":null,"messageId":"m"}`, "a", `{"anonymousId":"a","messageId":"m","type":"identify",`+tail),
		kept("a number is text", `{"userId":12,"messageId":"m"}`, "12", `{"userId":"12","messageId":"m","type":"identify",`+tail),
		kept("as ECMAScript prints it", `{"userId":1e21,"anonymousId":1.50,"messageId":"m"}`, "1e+21", `{"userId":"1e+21","anonymousId":"1.5","messageId":"m","type":"identify",`+tail),
		kept("beyond 2^53", `{"userId":9007199254740993,"messageId":"m"}`, "9007199254740992", `{"userId":"9007199254740992","messageId":"m","type":"identify",`+tail),
		kept("overflow is null, so absent", `{"userId":1e999,"anonymousId":-0,"messageId":"m"}`, "0", `{"anonymousId":"0","messageId":"m","type":"identify",`+tail),
		kept("escapes", `{"userId":"a\u0041\n\"\/","messageId":"m"}`, "aA\n\"/", `{"userId":"aA\n\"/","messageId":"m","type":"identify",`+tail),
		kept("broken UTF-8", "{\"userId\":\"\xff\",\"messageId\":\"m\"}", "\uFFFD", "{\"userId\":\"\uFFFD\",\"messageId\":\"m\",\"type\":\"identify\","+tail),
		kept("duplicates: the last", `{"userId":"x","messageId":"m","userId":"u"}`, "u", `{"userId":"u","messageId":"m","type":"identify",`+tail),
		kept("a messageId that is a number", `{"userId":"u","messageId":7}`, "u", ``).instead(`u source=website type=identify message-id=7 origin=api {"userId":"u","messageId":"7","type":"identify",` + tail),
	})
}

// instead returns the exchange with another record.
func (e exchange) instead(stored ...string) exchange {
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
	var cases []exchange
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
		`u source=website type=identify message-id=m integrations={"All":false,"Webhooks":true} origin=api `+value(`"integrations":{"All":false,"Webhooks":true},`)))
	exchangeAll(t, cases)
}

func TestBatchIsMergedIntoEachCall(t *testing.T) {
	event := `{"type":"identify","userId":"u","messageId":"m"`
	out := func(middle string) []string {
		return []string{`u source=website type=identify message-id=m origin=api ` + event + middle + `,` + tail}
	}
	batch := func(name, before, own, behind, stored string) exchange {
		return exchange{name: name, path: "/v1/batch", body: `{` + before + `"batch":[` + event + own + `}]` + behind + `}`, stored: out(stored)}
	}
	const header = ` integrations={"X":false,"All":true} `
	withHeader := batch("integrations", ``, `,"integrations":{"X":false}`, `,"integrations":{"All":true,"X":true}`, `,"integrations":{"X":false,"All":true}`)
	withHeader.stored[0] = strings.Replace(withHeader.stored[0], " origin", header+"origin", 1)
	exchangeAll(t, []exchange{
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
	var cases []exchange
	for name, c := range map[string]struct{ sent, stored string }{
		"none":             {``, `"timestamp":"2026-11-21T12:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"clock ahead":      {`,"timestamp":"2026-11-21T12:59:50Z","sentAt":"2026-11-21T13:00:00Z"`, `"timestamp":"2026-11-21T11:59:50.000Z","sentAt":"2026-11-21T13:00:00.000Z","originalTimestamp":"2026-11-21T12:59:50.000Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"historical":       {`,"timestamp":"2012-12-02T00:30:08.276+00:00"`, `"timestamp":"2012-12-02T00:30:08.276Z","originalTimestamp":"2012-12-02T00:30:08.276Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"original first":   {`,"timestamp":"2026-01-01","originalTimestamp":1795223069458`, `"timestamp":"2026-11-21T01:04:29.458Z","originalTimestamp":"2026-11-21T01:04:29.458Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"unreadable":       {`,"timestamp":"yesterday","sentAt":"2026-11-21T13:00:00Z"`, `"timestamp":"2026-11-21T12:00:00.000Z","sentAt":"2026-11-21T13:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"sentAt null":      {`,"timestamp":"2026-11-21T11:00:00Z","sentAt":null`, `"timestamp":"2026-11-21T11:00:00.000Z","originalTimestamp":"2026-11-21T11:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
		"beyond all years": {`,"timestamp":"0001-01-01T00:00:00Z","sentAt":"9999-01-01T00:00:00Z"`, `"timestamp":"2026-11-21T12:00:00.000Z","sentAt":"9999-01-01T00:00:00.000Z","originalTimestamp":"0001-01-01T00:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"`},
	} {
		cases = append(cases, kept(name, `{"userId":"u","messageId":"m","type":"identify"`+c.sent+`}`, "u", `{"userId":"u","messageId":"m","type":"identify",`+c.stored+`}`))
	}
	batch := func(name, own, stored string) exchange {
		return exchange{
			name: name, path: "/v1/batch",
			body:   `{"batch":[{"type":"identify","userId":"u","messageId":"m","timestamp":"2026-11-21T11:00:00Z"` + own + `}],"timestamp":"2000-01-01","sentAt":"2026-11-21T11:00:10+0000"}`,
			stored: []string{`u source=website type=identify message-id=m origin=api {"type":"identify","userId":"u","messageId":"m","timestamp":"` + stored + `","originalTimestamp":"2026-11-21T11:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"}`},
		}
	}
	own := batch("own sentAt first", `,"sentAt":"2026-11-21T11:00:01Z"`, `2026-11-21T11:59:59.000Z","sentAt":"2026-11-21T11:00:01.000Z`)
	of := batch("the batch's sentAt", ``, `2026-11-21T11:59:50.000Z`)
	of.stored[0] = strings.Replace(of.stored[0], `,"receivedAt"`, `,"sentAt":"2026-11-21T11:00:10.000Z","receivedAt"`, 1)
	exchangeAll(t, append(cases, own, of))
}

// TestCodes sends each bad call alone and inside a good batch.
func TestCodes(t *testing.T) {
	var cases []exchange
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
			exchange{name: c.call, path: "/v1/" + c.kind, body: c.call, status: 400, answer: errorBody(c.code, c.message)},
			refusedAlone("batch: "+c.call, inBatch, "bad", c.code, c.message))
	}
	for call, message := range map[string]string{
		`{"userId":"u","messageId":"bad"}`:                  "found no type, expected one of identify, track, page, screen, group, alias",
		`{"type":null,"userId":"u","messageId":"bad"}`:      "found no type, expected one of identify, track, page, screen, group, alias",
		`{"type":"Track","userId":"u","messageId":"bad"}`:   `found type \"Track\", expected one of identify, track, page, screen, group, alias`,
		`{"type":"delete","userId":"u","messageId":"bad"}`:  `found type \"delete\", expected one of identify, track, page, screen, group, alias`,
		`{"type":["track"],"userId":"u","messageId":"bad"}`: "found no type, expected one of identify, track, page, screen, group, alias",
	} {
		cases = append(cases, refusedAlone("type: "+call, call, "bad", "type_unknown", message))
	}
	for _, call := range []string{`null`, `1`, `"x"`, `[]`, `true`} {
		cases = append(cases, refusedAlone("no object: "+call, call, "", "invalid_json", "the call is not a JSON object"))
	}
	deep := `{"type":"track","event":"E","userId":"u","messageId":"bad","properties":` + strings.Repeat(`{"a":`, 600) + `["]}"]` + strings.Repeat(`}`, 600) + `}`
	cases = append(cases, refusedAlone("too deep", deep, "bad", "too_large", "the call is nested deeper than 512 levels"))
	exchangeAll(t, cases)
}

// refusedAlone is a batch of a bad call between two good ones.
func refusedAlone(name, bad, id, code, message string) exchange {
	const good = `{"type":"track","event":"E","userId":"u","messageId":"good"}`
	stored := `u source=website type=track message-id=good origin=api {"type":"track","event":"E","userId":"u","messageId":"good",` + tail
	return exchange{
		name: name, path: "/v1/batch", body: `{"batch":[` + good + `,` + bad + `,` + good + `]}`,
		answer: `{"success":true,"rejected":[{"index":1,"messageId":"` + id + `","code":"` + code + `","message":"` + message + `"}]}`,
		stored: []string{stored, stored},
	}
}

func TestABatchWithoutAGoodCall(t *testing.T) {
	const first, second = `track: found nothing for event, expected its name`, `the call is not a JSON object`
	exchangeAll(t, []exchange{{
		name: "two bad calls", path: "/v1/import", body: `{"batch":[{"type":"track","userId":"u","messageId":"a\"b"},7]}`, status: 400,
		answer: `{"success":false,"code":"event_not_defined","message":"` + first + `","error":"` + first + `","rejected":[` +
			`{"index":0,"messageId":"a\"b","code":"event_not_defined","message":"` + first + `"},` +
			`{"index":1,"messageId":"","code":"invalid_json","message":"` + second + `"}]}`,
	}})
}

func TestMessageIDsAreMadeUp(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	sent := []string{``, `,"messageId":null`, `,"messageId":""`, `,"messageId":{"a":1}`, `,"messageId":true`}
	for _, id := range sent {
		if got := s.post(t, "/v1/identify", `{"userId":"u"`+id+`}`); got.body != success {
			t.Errorf("%s: got %d %s", id, got.status, got.body)
		}
	}
	shape := regexp.MustCompile(`message-id=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) .*"messageId":"([^"]*)"`)
	seen := make(map[string]bool)
	for i, text := range s.stored(t, len(sent)) {
		found := shape.FindStringSubmatch(text)
		if found == nil || found[1] != found[2] {
			t.Errorf("%s: stored %s", sent[i], text)
			continue
		}
		seen[found[1]] = true
	}
	if len(seen) != len(sent) {
		t.Errorf("got %d different ids, want %d", len(seen), len(sent))
	}
}

// TestKeysDecideThePartition shows that all calls of one user meet, whichever
// request they came in.
func TestKeysDecideThePartition(t *testing.T) {
	cluster := testkit.Brokers(t)
	cluster.CreateTopics(t, 6, "raw-events")
	s := start(t, cluster)
	for i := range 40 {
		s.post(t, "/v1/i", fmt.Sprintf(`{"userId":"user-%d"}`, i%8))
	}
	partitions := make(map[string]map[int32]bool)
	used := make(map[int32]bool)
	for _, r := range cluster.ReadAll(t, "raw-events", 40) {
		if partitions[string(r.Key)] == nil {
			partitions[string(r.Key)] = make(map[int32]bool)
		}
		partitions[string(r.Key)][r.Partition] = true
		used[r.Partition] = true
	}
	counts := make(map[string]int)
	want := make(map[string]int)
	for i := range 8 {
		key := fmt.Sprintf("user-%d", i)
		counts[key], want[key] = len(partitions[key]), 1
	}
	if diff := cmp.Diff(want, counts); diff != "" || len(used) < 2 {
		t.Errorf("partitions per user (-want +got):\n%s\nof %d partitions", diff, len(used))
	}
}
