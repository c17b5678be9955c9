package app

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/test/testkit"
)

// followedWorkspace has a source whose calls three destinations get, of which the receiver
// likes one, and a source that nobody listens to.
func followedWorkspace(url string) string {
	return strings.ReplaceAll(`
sources:
  - {id: web, name: Web, writeKey: wk_web, trackingPlan: {action: block, events: {Paid: {properties: {sum: {type: number, required: true}}}}, additionalEvents: true}}
  - {id: lonely, name: Lonely, writeKey: wk_lonely}
destinations:
  - {id: bad, type: webhooks, name: Bad, sources: [web], endpoints: [{url: "URL/bad"}]}
  - {id: good, type: webhooks, name: Good, sources: [web], endpoints: [{url: "URL/good?token=zqSecret7"}]}
  - {id: sulky, type: webhooks, name: Sulky, sources: [web], endpoints: [{url: "URL/sulky"}]}
`, "URL", url)
}

// traced is what trace tells of a messageId, in few words, and what it prints for people.
func traced(t *testing.T, args ...string) (short, text string, err error) {
	t.Helper()
	out, err := typed(t, append([]string{"trace", "--json"}, args...)...)
	var trace messagetrace.Trace
	if wrong := json.Unmarshal([]byte(out), &trace); wrong != nil {
		t.Fatalf("trace %v printed %s: %v, %v", args, out, wrong, err)
	}
	var words []string
	for i := range trace.Calls {
		for _, d := range trace.Calls[i].Destinations {
			verdicts := []string{strings.TrimSpace(d.ID + " " + string(d.Outcome) + " " + d.Reason)}
			for _, a := range d.Attempts {
				verdicts = append(verdicts, a.Verdict)
			}
			words = append(words, strings.Join(verdicts, "/"))
		}
	}
	text, _ = typed(t, append([]string{"trace"}, args...)...)
	return strings.Join(words, ", "), text, err
}

// byPath answers with the status of a path, 200 where it has none.
func byPath(statuses map[string]int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if status, known := statuses[req.URL.Path]; known {
			w.WriteHeader(status)
		}
	})
}

// TestACallIsTraced from the API to what became of it: each end that a call can come to.
func TestACallIsTraced(t *testing.T) {
	receiver := testkit.NewReceiver(t)
	receiver.Respond(byPath(map[string]int{"/bad": http.StatusBadRequest, "/sulky": http.StatusServiceUnavailable}))
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, followedWorkspace(receiver.URL))
	env := with(environment(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WORKSPACE_FILE", file, "WEBHOOK_SINK_RETRY_DELAYS", "10m")
	r := start(t, env)
	setShell(t, env, r)
	call := func(key, body string) {
		t.Helper()
		if status := r.post(t, "/v1/track", key, body); status != http.StatusOK {
			t.Fatalf("%s was answered %d", body, status)
		}
	}
	check := func(want string, args ...string) (text string) {
		t.Helper()
		var got string
		var err error
		testkit.Until(t, func() bool {
			got, text, err = traced(t, args...)
			return got == want && err == nil
		}, "trace "+strings.Join(args, " ")+" to tell "+want)
		return text
	}
	call("wk_web", `{"userId":"u1","event":"Seen","messageId":"m1"}`)
	text := check("bad dead status_4xx/dead, good delivered/delivered, sulky waiting status_5xx/retried", "m1")
	for _, part := range []string{`m1: track "Seen" from source web, user u1`, "raw-events[", "routed", "took it after", "failed with status_5xx after", "again at", "waiting until", "dead letter ", "endpoint answered 400"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if strings.Contains(text, "zqSecret7") {
		t.Errorf("a secret is shown:\n%s", text)
	}
	check("bad dead status_4xx/dead, good delivered/delivered, sulky waiting status_5xx/retried", "--user", "u1", "m1")

	call("wk_web", `{"userId":"u1","event":"Seen","messageId":"m1"}`)
	check("bad dead status_4xx/dead, good delivered/delivered, sulky waiting status_5xx/retried, duplicate", "m1")
	call("wk_web", `{"userId":"u1","event":"Seen","messageId":"m2","integrations":{"All":false}}`)
	check("bad filtered All, good filtered All, sulky filtered All", "m2")
	call("wk_lonely", `{"userId":"u1","event":"Seen","messageId":"m3"}`)
	check("unconnected", "m3")
	call("wk_web", `{"userId":"u1","event":"Paid","messageId":"m4","properties":{"sum":"7"}}`)
	if text := check("dead plan_violation", "m4"); !strings.Contains(text, "properties.sum: found a string, expected a number") {
		t.Errorf("of a call that was blocked:\n%s", text)
	}

	r.regulate(t, "SUPPRESS_ONLY", "u9")
	call("wk_web", `{"userId":"u9","event":"Seen","messageId":"m9"}`)
	testkit.Until(t, func() bool {
		got, text, err := traced(t, "--user", "u9", "m9")
		return got == "" && err != nil && strings.Contains(err.Error(), "there is no call m9: searched 1 of") && strings.Contains(text, "the user is suppressed")
	}, "trace to say why a call is missing")

	receiver.Respond(byPath(map[string]int{"/sulky": http.StatusServiceUnavailable}))
	if done := deadLetters(t, "redrive", "--destination", "bad"); !strings.Contains(done, "redriven 1 of 1") {
		t.Errorf("redrive printed\n%s", done)
	}
	check("bad delivered/dead/delivered, good delivered/delivered, sulky waiting status_5xx/retried, duplicate", "m1")

	lists(t)
}

// lists lists what was traced.
func lists(t *testing.T) {
	t.Helper()
	if listed, err := typed(t, "trace", "--last", "1", "--destination", "good", "--json"); err != nil || !strings.Contains(listed, `"message_id":"m1"`) || strings.Count(listed, "\n") != 1 {
		t.Errorf("the last of a destination: %s, %v", listed, err)
	}
	if listed, err := typed(t, "trace", "--last", "9", "--user", "u1"); err != nil || !strings.Contains(listed, "m3") || !strings.Contains(listed, "m2") {
		t.Errorf("the last of a user: %s, %v", listed, err)
	}
	if _, err := typed(t, "trace", "m1", "--last", "3", "--user", "u1"); err == nil || !strings.Contains(err.Error(), "either a messageId or --last") {
		t.Errorf("a messageId and a list: %v", err)
	}
}
