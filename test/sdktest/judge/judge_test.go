package judge_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/sdktest/books"
	"github.com/anabranch/anabranch/test/sdktest/judge"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

var began = time.Date(2026, 11, 21, 1, 8, 14, 0, time.UTC)

// delivery is the one that a call should become.
func delivery(tb testing.TB, c *scenario.Call) map[string]any {
	tb.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		tb.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		tb.Fatal(err)
	}
	for _, key := range []string{"mark", "filtered", "integrations"} {
		delete(body, key)
	}
	body["version"] = 1
	for key, value := range map[string]any{"messageId": "m-" + c.Mark, "timestamp": "2026-11-21T01:08:15.000Z", "context": map[string]any{}} {
		if body[key] == nil {
			body[key] = value
		}
	}
	switch c.Type {
	case "identify", "group":
	case "alias":
		body["User ID"], body["Previous ID"] = body["userId"], body["previousId"]
		delete(body, "userId")
		delete(body, "previousId")
	default:
		if body["properties"] == nil {
			body["properties"] = map[string]any{}
		}
	}
	return body
}

// good is a case in which all went well: every call of the scenario arrived.
func good(tb testing.TB) (judge.Case, []map[string]any) {
	tb.Helper()
	calls, err := scenario.All()
	if err != nil {
		tb.Fatal(err)
	}
	var bodies []map[string]any
	for i := range calls {
		if !calls[i].Filtered {
			bodies = append(bodies, delivery(tb, &calls[i]))
		}
	}
	return judge.Case{Calls: calls, Began: began, Ended: began.Add(5 * time.Second)}, bodies
}

func write(tb testing.TB, c *judge.Case, bodies []map[string]any) {
	tb.Helper()
	for _, body := range bodies {
		text, err := json.Marshal(body)
		if err != nil {
			tb.Fatal(err)
		}
		c.Deliveries = append(c.Deliveries, books.Delivery{Body: text, Signed: true})
	}
}

func TestWhatWentWellIsNotFaulted(t *testing.T) {
	c, bodies := good(t)
	slices.Reverse(bodies) // their order says nothing
	write(t, &c, bodies)
	if wrong := c.Judge(); len(wrong) > 0 {
		t.Errorf("wrong: %s", strings.Join(wrong, "\n"))
	}
}

// changes alter one body of a case that went well. Each has the mark of the call
// and how the sentence about it begins.
var changes = map[string]struct {
	mark  string
	want  string
	alter func(body map[string]any)
}{
	"a property altered":         {"track-numbers", "properties is", func(b map[string]any) { object(b, "properties")["tenth"] = 0.1000001 }},
	"a property lost":            {"track-full", "properties is", func(b map[string]any) { delete(object(b, "properties"), "coupon") }},
	"a property added":           {"track-full", "properties is", func(b map[string]any) { object(b, "properties")["more"] = 1 }},
	"null became empty":          {"track-null", "properties is", func(b map[string]any) { object(b, "properties")["nothing"] = "" }},
	"a list became an object":    {"track-empty", "properties is", func(b map[string]any) { object(b, "properties")["list"] = map[string]any{} }},
	"a trait altered":            {"identify-full", "traits is", func(b map[string]any) { object(b, "traits")["name"] = "Zoe" }},
	"a user altered":             {"track-unicode", "userId is", func(b map[string]any) { b["userId"] = "?" }},
	"an anonymous user lost":     {"page-full", "anonymousId is missing", func(b map[string]any) { delete(b, "anonymousId") }},
	"an anonymous user invented": {"track-user", "anonymousId is a, and was not given", func(b map[string]any) { b["anonymousId"] = "a" }},
	"an event altered":           {"track-unicode", "event is", func(b map[string]any) { b["event"] = "Ge\ufffdffnet" }},
	"a name lost":                {"page-user", "name is missing", func(b map[string]any) { delete(b, "name") }},
	"a category lost":            {"page-full", "category is missing", func(b map[string]any) { delete(b, "category") }},
	"a messageId replaced":       {"screen-full", "messageId is", func(b map[string]any) { b["messageId"] = "m-other" }},
	"a context lost":             {"group-full", "context is", func(b map[string]any) { delete(b, "context") }},
	"a context's member lost":    {"identify-full", "context.campaign.term is", func(b map[string]any) { delete(object(b, "context")["campaign"].(map[string]any), "term") }},
	"an ip overwritten":          {"track-full", "context.ip is", func(b map[string]any) { object(b, "context")["ip"] = "127.0.0.1" }},
	"a user of an alias altered": {"alias-user", "User ID is", func(b map[string]any) { b["User ID"] = "u" }},
	"a group altered":            {"group-user", "groupId is", func(b map[string]any) { b["groupId"] = "g" }},
	"another type":               {"page-user", "type is", func(b map[string]any) { b["type"] = "screen" }},
	"no version":                 {"page-user", "version is missing", func(b map[string]any) { delete(b, "version") }},
	"a historical time lost":     {"track-full", "timestamp is", func(b map[string]any) { b["timestamp"] = "2026-11-21T01:08:15.000Z" }},
	"a historical time too late": {"track-full", "timestamp is", func(b map[string]any) { b["timestamp"] = "2012-12-02T00:30:15.276Z" }},
	"a time before the run":      {"track-user", "timestamp is", func(b map[string]any) { b["timestamp"] = "2026-11-21T01:08:12.000Z" }},
	"a time after the run":       {"track-user", "timestamp is", func(b map[string]any) { b["timestamp"] = "2026-11-21T01:08:21.000Z" }},
	"a time without milliseconds": {"track-user", "timestamp is", func(b map[string]any) {
		b["timestamp"] = "2026-11-21T01:08:15Z"
	}},
}

func object(b map[string]any, key string) map[string]any { return b[key].(map[string]any) }

func TestAnAlteredCallIsFound(t *testing.T) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			c, bodies := good(t)
			i := slices.IndexFunc(c.Calls, func(c scenario.Call) bool { return c.Mark == change.mark })
			body := bodies[slices.IndexFunc(bodies, func(b map[string]any) bool { return b["messageId"] == delivery(t, &c.Calls[i])["messageId"] })]
			change.alter(body)
			write(t, &c, bodies)
			wrong := c.Judge()
			if len(wrong) != 1 || !strings.Contains(wrong[0], change.mark+": "+change.want) {
				t.Errorf("said %q, expected one sentence with %q", wrong, change.mark+": "+change.want)
			}
		})
	}
}

func TestCountsThatAreWrongAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		alter func(c *judge.Case, bodies []map[string]any) []map[string]any
		want  string
	}{
		"lost":         {func(_ *judge.Case, b []map[string]any) []map[string]any { return b[1:] }, "identify-user: delivered 0 times"},
		"doubled":      {func(_ *judge.Case, b []map[string]any) []map[string]any { return append(b, b[3]) }, "track-user: delivered 2 times"},
		"not filtered": {func(c *judge.Case, b []map[string]any) []map[string]any { return append(b, filtered(t, c)) }, "track-not-webhooks: delivered 1 times, expected 0"},
		"unknown": {func(_ *judge.Case, b []map[string]any) []map[string]any {
			return append(b, map[string]any{"properties": map[string]any{"call": "ghost"}, "messageId": "m"})
		}, `1 deliveries with the mark "ghost"`},
		"without a mark": {func(_ *judge.Case, b []map[string]any) []map[string]any {
			return append(b, map[string]any{"properties": map[string]any{}, "messageId": "m"})
		}, `1 deliveries with the mark ""`},
		"one messageId for two": {func(_ *judge.Case, b []map[string]any) []map[string]any {
			b[0]["messageId"] = b[1]["messageId"]
			return b
		}, "have the same messageId"},
	} {
		t.Run(name, func(t *testing.T) {
			test, bodies := good(t)
			write(t, &test, c.alter(&test, bodies))
			if wrong := test.Judge(); len(wrong) != 1 || !strings.Contains(wrong[0], c.want) {
				t.Errorf("said %q, expected one sentence with %q", wrong, c.want)
			}
		})
	}
}

// filtered is a delivery of a call that its integrations map should have kept.
func filtered(tb testing.TB, c *judge.Case) map[string]any {
	tb.Helper()
	return delivery(tb, &c.Calls[slices.IndexFunc(c.Calls, func(c scenario.Call) bool { return c.Filtered })])
}

func TestBadDeliveriesAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		delivery books.Delivery
		want     []string
	}{
		"not signed": {books.Delivery{Body: []byte(`{"Previous ID":"ghost"}`)}, []string{"not signed", `mark "ghost"`}},
		"no JSON":    {books.Delivery{Body: []byte(`<html>`), Signed: true}, []string{"no JSON object"}},
		"no object":  {books.Delivery{Body: []byte(`[]`), Signed: true}, []string{"no JSON object"}},
	} {
		t.Run(name, func(t *testing.T) {
			test, bodies := good(t)
			write(t, &test, bodies)
			test.Deliveries = append(test.Deliveries, c.delivery)
			wrong := test.Judge()
			if len(wrong) != len(c.want) {
				t.Fatalf("said %q", wrong)
			}
			for i, part := range c.want {
				if !strings.Contains(wrong[i], part) {
					t.Errorf("said %q, expected %q in it", wrong[i], part)
				}
			}
		})
	}
}

func TestWhatAnSDKAddsIsLeftToIt(t *testing.T) {
	c, bodies := good(t)
	for _, body := range bodies {
		body["anonymousId"] = "generated"
		if body["type"] == "page" {
			object(body, "properties")["category"] = "Docs"
			body["name"] = "Page"
		}
	}
	write(t, &c, bodies)
	without := len(c.Judge())
	c.Adds = []string{"anonymousId", "page.properties.category", "page.name"}
	wrong := c.Judge()
	// What was given counts as before: those with an anonymous user of their own
	// and the names of the pages.
	for _, text := range wrong {
		if !strings.Contains(text, "anonymousId is generated, expected a-") && !strings.Contains(text, "name is Page, expected") {
			t.Errorf("said %q of what the SDK adds", text)
		}
	}
	if len(wrong) == 0 || len(wrong) >= without {
		t.Errorf("%d wrong with what the SDK adds, %d without", len(wrong), without)
	}
}
