package app

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anabranch/anabranch/internal/telemetry/trace/tracetest"
	"github.com/anabranch/anabranch/test/testkit"
)

// parentTrace is the trace of whoever makes the call of TestOneTraceOfOneCall.
const parentTrace = "4bf92f3577b34da6a3ce929d0e0e4736"

// tracedWorkspace has two destinations, one with an endpoint whose first request
// fails. Each URL has secrets wherever a URL can.
func tracedWorkspace(t *testing.T) (file string) {
	t.Helper()
	var asked atomic.Int64
	flaky := testkit.NewReceiver(t)
	flaky.Respond(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	steady := testkit.NewReceiver(t)
	var text strings.Builder
	text.WriteString("sources:\n  - {id: web, name: Web, writeKey: zqKey7}\ndestinations:\n")
	for id, receiver := range map[string]*testkit.Receiver{"flaky": flaky, "steady": steady} {
		fmt.Fprintf(&text, "  - {id: %s, type: webhooks, name: %s, sources: [web], sharedSecret: zqShared7, endpoints: [{url: \"http://zqUser7:zqPassword7@%s/zqPath7?t=zqQuery7\", headers: {X-Token: zqHeader7}}]}\n",
			id, id, strings.TrimPrefix(receiver.URL, "http://"))
	}
	file = filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, text.String())
	return file
}

// tree is the spans of a trace by their ids.
type tree struct {
	*testing.T
	spans []tracetest.Span
}

// one returns the only span with a name and, unless that is empty, a destination.
func (t tree) one(name, destination string) tracetest.Span {
	t.Helper()
	found := t.all(name, destination)
	if len(found) != 1 {
		t.Fatalf("%d spans %q of %q among %+v", len(found), name, destination, t.spans)
	}
	return found[0]
}

func (t tree) all(name, destination string) []tracetest.Span {
	return slices.DeleteFunc(slices.Clone(t.spans), func(s tracetest.Span) bool {
		return s.Name != name || destination != "" && s.Attributes["anabranch.destination"] != destination
	})
}

// under checks whose child a span is, and that it belongs to the event.
func (t tree) under(child, parent tracetest.Span) {
	t.Helper()
	if child.Parent != parent.ID {
		t.Errorf("span %q is under %s, want %q", child.Name, child.Parent, parent.Name)
	}
	if id, ok := child.Attributes["messaging.message.id"]; ok && id != "m-1" {
		t.Errorf("span %q is of message %q", child.Name, id)
	}
}

// TestOneTraceOfOneCall follows a call to two destinations, one of which takes it
// at the second attempt alone.
func TestOneTraceOfOneCall(t *testing.T) {
	t.Parallel()
	collector := tracetest.New(t)
	env := with(environment(t), "WORKSPACE_FILE", tracedWorkspace(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8",
		"INGEST_TRUSTED_PROXIES", "127.0.0.0/8", "WEBHOOK_SINK_RETRY_DELAYS", "100ms", "OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	r := start(t, env)
	callTraced(t, r)
	const all = 1 + 1 + 1 + 2 + 3 + 3 // request, send; process, 2 sends; 3 attempts, each with a POST
	testkit.Until(t, func() bool { return len(collector.Spans()) >= all }, "all spans to arrive")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}

	spans := tree{T: t, spans: collector.Spans()}
	if n := len(spans.spans); n != all {
		t.Errorf("%d spans, want %d", n, all)
	}
	spans.check()
	if collector.Holds("zq") || !collector.Holds("m-1") {
		t.Error("a span shows a secret")
	}
}

// callTraced makes the call as somebody who traces it.
func callTraced(t *testing.T, r *running) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.api+"/v1/track", strings.NewReader(`{"userId":"u","event":"e","messageId":"m-1"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("zqKey7", "")
	request.Header.Set("Traceparent", "00-"+parentTrace+"-00f067aa0ba902b7-01")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("answered %d", answer.StatusCode)
	}
}

// check goes from the request to the last attempts.
func (t tree) check() {
	t.Helper()
	for _, s := range t.spans {
		if s.Trace != parentTrace || s.Resource["service.name"] != "anabranch" {
			t.Errorf("span %q of %s is in trace %s", s.Name, s.Resource["service.name"], s.Trace)
		}
	}
	root := t.one("POST /v1/track", "")
	if root.Parent != "00f067aa0ba902b7" || root.Attributes["http.response.status_code"] != "200" || root.Attributes["anabranch.source"] != "web" {
		t.Errorf("request %+v", root)
	}
	stored := t.one("send raw-events", "")
	t.under(stored, root)
	routed := t.one("process raw-events", "")
	t.under(routed, stored)
	if routed.Attributes["anabranch.routed"] != "2" {
		t.Errorf("routing %+v", routed)
	}
	for _, id := range []string{"flaky", "steady"} {
		sent := t.one("send deliver."+id, id)
		t.under(sent, routed)
		first := t.one("process deliver."+id, id)
		t.under(first, sent)
		if id == "flaky" {
			again := t.one("process webhook-retry.100ms", id)
			t.under(again, sent)
			checkPosts(t, id, first, again)
			continue
		}
		checkPosts(t, id, first)
	}
}

// checkPosts: the last attempt delivered, those before it failed, and each made one
// request.
func checkPosts(tree tree, id string, attempts ...tracetest.Span) {
	tree.Helper()
	posts := tree.all("POST", id)
	if len(posts) != len(attempts) {
		tree.Fatalf("%d requests to %s, want %d", len(posts), id, len(attempts))
	}
	for i, attempt := range attempts {
		last := i == len(attempts)-1
		of := slices.IndexFunc(posts, func(s tracetest.Span) bool { return s.Parent == attempt.ID })
		if of < 0 {
			tree.Fatalf("attempt %d at %s made no request", i+1, id)
		}
		post := posts[of]
		if want := map[bool]string{true: "200", false: "503"}[last]; post.Attributes["http.response.status_code"] != want {
			tree.Errorf("request %d to %s: %+v, want status %s", i+1, id, post, want)
		}
		if post.Failed == last || attempt.Failed == last || attempt.Attributes["anabranch.attempt"] != strconv.Itoa(i+1) {
			tree.Errorf("attempt %d at %s: %+v, request %+v", i+1, id, attempt, post)
		}
		if want := map[bool]string{true: "delivered", false: "retried"}[last]; attempt.Attributes["anabranch.outcome"] != want {
			tree.Errorf("attempt %d at %s: %+v, want %s", i+1, id, attempt, want)
		}
		if post.Attributes["server.address"] != "127.0.0.1" || post.Attributes["server.port"] == "" {
			tree.Errorf("request %+v", post)
		}
	}
}
