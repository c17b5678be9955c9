package app

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/testsend"
)

// TestAnEndpointIsTested by a person at a shell: with an example, and with an event that is
// stored. It sets the environment, as a shell does.
func TestAnEndpointIsTested(t *testing.T) {
	receiver := testkit.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books(receiver.URL+"/hooks?zqQuery7"))
	env := with(environment(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WORKSPACE_FILE", file)
	r := start(t, env)
	setShell(t, env, r)

	out, err := typed(t, "test-send", "--json", "--type", "page", "books")
	var report testsend.Report
	if wrong := json.Unmarshal([]byte(out), &report); err != nil || wrong != nil || !report.Delivered() || report.Deliveries[0].Request[0].Value != "POST /hooks?[redacted] HTTP/1.1" {
		t.Fatalf("printed %s: %v, %v", out, err, wrong)
	}
	got := receiver.Wait(t, 1)[0]
	if body := got.JSON(t); body["type"] != "page" || body["messageId"] != report.MessageID || !schemas.Verify("s3cret", got.Body, got.Header.Get("X-Signature")) {
		t.Errorf("delivered %v with %v", body, got.Header)
	}

	if status := r.post(t, "/v1/track", "wk_books", `{"userId":"u","event":"Signed Up","messageId":"m1"}`); status != http.StatusOK {
		t.Fatalf("the call was answered %d", status)
	}
	receiver.Wait(t, 2)
	receiver.Respond(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "no more room")
	}))
	out, err = typed(t, "test-send", "--event", "m1", "--endpoint", "1", "books")
	if err == nil || !strings.Contains(out, "test delivery of m1 to books") || !strings.Contains(out, "< no more room\n") || !strings.Contains(out, "would be retried: endpoint answered 503\n") {
		t.Errorf("printed %s: %v", out, err)
	}
	if all := receiver.Wait(t, 3); string(all[1].Body) != string(all[2].Body) {
		t.Errorf("for a test %s was sent, and %s as an event", all[2].Body, all[1].Body)
	}
	refusedTests(t)
	// The event was delivered once, and no test is counted.
	const count = `anabranch_webhook_sink_deliveries_total{destination="books",result="delivered"} 1`
	testkit.Until(t, func() bool { return strings.Contains(r.get(t, "/metrics"), count) }, count)
	if page := r.get(t, "/metrics"); strings.Contains(page, `result="status_5xx"} 1`) {
		t.Errorf("a test is counted:\n%s", page)
	}
}

// refusedTests are those that can't be made, each with a clear word.
func refusedTests(t *testing.T) {
	t.Helper()
	for args, want := range map[string]string{
		"nobody":                          "no destination nobody",
		"--type shout books":              "expected one of",
		"--event m1 --type track books":   "found both",
		"--event nothing books":           "there is no event nothing",
		"--endpoint 2 books":              "expected 1 to 1",
		"--endpoint 0 books":              "expected a number from 1",
		"--user u books":                  "--user goes with --event",
		"--event m1 --user nobody7 books": "there is no event m1",
		"":                                "a destination",
	} {
		if out, err := typed(t, append([]string{"test-send"}, strings.Fields(args)...)...); err == nil || args != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s printed %s: %v, want %s", args, out, err, want)
		}
	}
}

// TestWhatAnEndpointAnsweredIsKept: in the dead letter, and on the admin address for those who
// have the token.
func TestWhatAnEndpointAnsweredIsKept(t *testing.T) {
	receiver := testkit.NewReceiver(t)
	receiver.Respond(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "zqAnswer: no such book,\nor no "+strings.Repeat("x", 2000))
	}))
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books(receiver.URL))
	env := with(environment(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WORKSPACE_FILE", file)
	r := start(t, env)
	setShell(t, env, r)
	if status := r.post(t, "/v1/track", "wk_books", `{"userId":"u","event":"Signed Up","messageId":"m1"}`); status != http.StatusOK {
		t.Fatalf("the call was answered %d", status)
	}
	id := awaitDeadLetter(t)
	if shown := deadLetters(t, "show", id); !strings.Contains(shown, "\nzqAnswer: no such book,\nor no xxx") || strings.Contains(shown, strings.Repeat("x", 1024)) {
		t.Errorf("show printed\n%s", shown)
	}
	if listed := deadLetters(t, "list", "--json"); strings.Contains(listed, "zqAnswer") {
		t.Errorf("list printed\n%s", listed)
	}
	const page = "/failed-answers?destination=books"
	if text := r.get(t, page); !strings.Contains(text, "unauthorized") {
		t.Errorf("without the token %s is answered %s", page, text)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.admin+page, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), `"messageId":"m1","status":400`) || !strings.Contains(string(text), `zqAnswer: no such book,\nor no xxx`) {
		t.Errorf("%s is answered %s, %v", page, text, err)
	}
	if log := r.log.String(); strings.Contains(log, "zqAnswer") {
		t.Errorf("the log quotes an answer:\n%s", log)
	}
}
