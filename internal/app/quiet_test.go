package app

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestTheLogDoesNotGrowWithTheEvents sends a thousand of them to every fate that
// there is: routed, filtered, unconnected, unreadable, delivered, retried, dead at
// once, dead in the end, left out while their endpoint is down.
func TestTheLogDoesNotGrowWithTheEvents(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	var text strings.Builder
	text.WriteString("sources:\n  - {id: web, name: Web, writeKey: wk}\n  - {id: nobody, name: N, writeKey: wk2}\ndestinations:\n")
	for id, status := range map[string]int{"good": http.StatusOK, "gone": http.StatusGone, "busy": http.StatusServiceUnavailable} {
		receiver := testkit.NewReceiver(t)
		receiver.Respond(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		fmt.Fprintf(&text, "  - {id: %s, type: webhooks, name: %s, sources: [web], endpoints: [{url: %q}]}\n", id, id, receiver.URL)
	}
	writeFile(t, file, text.String())
	r := start(t, with(environment(t), "WORKSPACE_FILE", file, "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8",
		"WEBHOOK_SINK_RETRY_DELAYS", "100ms", "WEBHOOK_SINK_RETRY_WINDOW", "300ms"))
	before := levels(r.log)
	const rounds, each = 10, 100
	for n := range rounds {
		var batch, filtered strings.Builder
		for i := range each {
			fmt.Fprintf(&batch, `{"type":"track","userId":"u%d","event":"e","messageId":"%d-%d"},`, i%7, n, i)
			fmt.Fprintf(&filtered, `{"type":"track","userId":"u%d","event":"e","integrations":{"Webhooks":%t}},{"type":"track","event":7,"userId":"u"},`, i, i%2 == 0)
		}
		for key, body := range map[string]string{"wk": batch.String(), "wk2": filtered.String()} {
			if status := r.post(t, "/v1/batch", key, `{"batch":[`+strings.TrimSuffix(body, ",")+`]}`); status != http.StatusOK {
				t.Fatalf("batch answered %d", status)
			}
		}
	}
	finished := func(destination, result string) bool {
		want := fmt.Sprintf("anabranch_webhook_sink_deliveries_total{destination=%q,result=%q} %d\n", destination, result, rounds*each)
		return strings.Contains(r.get(t, "/metrics"), want)
	}
	testkit.Until(t, func() bool {
		return finished("good", "delivered") && finished("gone", "dead") && finished("busy", "dead")
	}, "every event to end")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	after := levels(r.log)
	// Some: endpoints go down and come back to be probed, partitions are assigned.
	const some = 40
	if n := after["INFO"] + after["WARN"] + after["ERROR"] - before["INFO"] - before["WARN"] - before["ERROR"]; n > some {
		t.Errorf("%d lines at info and above for %d events, want a few:\n%s", n, 3*rounds*each, r.log)
	}
}

// levels counts the lines of a log by their level.
func levels(log *testkit.Logs) map[string]int {
	counts := make(map[string]int)
	for _, level := range []string{"INFO", "WARN", "ERROR"} {
		counts[level] = log.Count("level=" + level)
	}
	return counts
}
