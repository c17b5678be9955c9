package app

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// series is what /metrics says: values by name and labels, as written.
type series map[string]float64

func (r *running) series(t *testing.T) series {
	t.Helper()
	all := make(series)
	for line := range strings.Lines(r.get(t, "/metrics")) {
		if name, text, found := cutLast(strings.TrimSpace(line), " "); found && !strings.HasPrefix(line, "#") {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatalf("unexpected line %s", line)
			}
			all[name] = value
		}
	}
	return all
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// sum adds up the series of a name that have all of the labels.
func (s series) sum(name string, labels ...string) float64 {
	total := 0.
next:
	for id, value := range s {
		if found, rest, _ := strings.Cut(id, "{"); found == name {
			for _, label := range labels {
				if !strings.Contains(rest, label) {
					continue next
				}
			}
			total += value
		}
	}
	return total
}

// The ends of an event, and what is still in hand.
func (s series) accepted() float64 {
	return s.sum("anabranch_ingest_events_total", `result="accepted"`)
}

func (s series) inHand() float64 {
	return s.sum("anabranch_router_lag_records") + s.sum("anabranch_webhook_sink_lag_records") + s.sum("anabranch_webhook_sink_retries_waiting")
}

func (s series) ended() float64 {
	return s.sum("anabranch_webhook_sink_deliveries_total", `result="delivered"`) + s.sum("anabranch_webhook_sink_deliveries_total", `result="dead"`)
}

func (s series) deadLetters() float64 {
	return s.sum("anabranch_ingest_events_total", `result="blocked"`) + s.sum("anabranch_router_events_total", `result="dead"`) + s.sum("anabranch_webhook_sink_dead_letters_total")
}

const mixed = `
sources:
  - {id: web, name: Web, writeKey: wk_web}
  - {id: quiet, name: Quiet, writeKey: wk_quiet}
  - {id: strict, name: Strict, writeKey: wk_strict, trackingPlan: {action: block, events: {Signed Up: {properties: {plan: {type: string, required: true}}}}}}
destinations:
  - {id: good, type: webhooks, name: Good, sources: [web, strict], endpoints: [{url: "%s"}]}
  - {id: flaky, type: webhooks, name: Flaky, sources: [web], endpoints: [{url: "%s"}]}
  - {id: picky, type: webhooks, name: Picky, sources: [web], endpoints: [{url: "%s"}]}
`

// TestCountersAddUp: every call ends somewhere, and /metrics alone says where (the
// equations of docs/metrics.md).
func TestCountersAddUp(t *testing.T) {
	t.Parallel()
	good, flaky, picky := testkit.NewReceiver(t), testkit.NewReceiver(t), testkit.NewReceiver(t)
	flaky.Respond(testkit.Statuses(503, 200))
	picky.Respond(testkit.Statuses(400))
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, fmt.Sprintf(mixed, good.URL, flaky.URL, picky.URL))
	r := start(t, with(environment(t), "WORKSPACE_FILE", file, "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8",
		"WEBHOOK_SINK_RETRY_DELAYS", "200ms", "METRICS_MAX_DESTINATIONS", "2"))

	r.regulate(t, "SUPPRESS_ONLY", "left")
	sent := 0
	send := func(times int, key, call string, status int) {
		t.Helper()
		for range times {
			sent++
			body := strings.Replace(call, "{", fmt.Sprintf(`{"messageId":"m%d",`, sent), 1)
			if got := r.post(t, "/v1/track", key, body); got != status {
				t.Fatalf("%s was answered %d, want %d", body, got, status)
			}
		}
	}
	send(20, "wk_web", `{"userId":"u","event":"e"}`, http.StatusOK)
	send(5, "wk_web", `{"userId":"u","event":"e","integrations":{"Webhooks":false}}`, http.StatusOK)
	send(7, "wk_quiet", `{"userId":"u","event":"e"}`, http.StatusOK)
	send(4, "wk_strict", `{"userId":"u","event":"Signed Up","properties":{"plan":"free"}}`, http.StatusOK)
	send(3, "wk_strict", `{"userId":"u","event":"Signed Up"}`, http.StatusOK)
	send(2, "wk_web", `{"userId":"left","event":"e"}`, http.StatusOK)
	const copies = 3
	for range copies {
		sent++
		r.post(t, "/v1/track", "wk_web", `{"messageId":"m1","userId":"u","event":"e"}`)
	}
	send(3, "wk_web", `{"event":"nobody's"}`, http.StatusBadRequest)

	var s series
	testkit.Until(t, func() bool {
		s = r.series(t)
		return s.ended() == 3*20+4 && s.inHand() == 0 && s.sum("anabranch_router_events_total", `result="duplicate"`) == copies
	}, "everything to be at rest")

	routed := s.sum("anabranch_router_events_total", `result="routed"`)
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"calls sent", s.sum("anabranch_ingest_events_total") + s.sum("anabranch_ingest_unavailable_total") + s.sum("anabranch_ingest_throttled_total"), float64(sent)},
		{"accepted", s.accepted(), 36 + copies},
		{"blocked", s.sum("anabranch_ingest_events_total", `result="blocked"`), 3},
		{"suppressed", s.sum("anabranch_ingest_events_total", `result="suppressed"`), 2},
		{"rejected", s.sum("anabranch_ingest_events_total", `result="rejected"`), 3},
		{"rejected by code", s.sum("anabranch_ingest_rejected_total"), 3},
		{"filtered", s.sum("anabranch_router_events_total", `result="filtered"`), 3 * 5},
		{"unconnected", s.sum("anabranch_router_events_total", `result="unconnected"`), 7},
		{"copies", s.sum("anabranch_router_events_total", `result="duplicate"`), copies},
		{"decisions of the router", s.sum("anabranch_router_events_total"), 3*25 + 4 + 7 + copies},
		{"routed, as they ended", s.ended(), routed},
		{"delivered", s.sum("anabranch_webhook_sink_deliveries_total", `result="delivered"`), 20 + 20 + 4},
		{"requests that were answered 2xx", s.sum("anabranch_webhook_sink_attempts_total", `outcome="delivered"`), 20 + 20 + 4},
		{"latencies", s.sum("anabranch_webhook_sink_call_to_delivery_seconds_count"), 20 + 20 + 4},
		{"latencies of retries", s.sum("anabranch_webhook_sink_call_to_delivery_seconds_count", `attempt="retry"`), 1},
		{"retried", s.sum("anabranch_webhook_sink_deliveries_total", `result="retried"`), 1},
		{"refused for good", s.sum("anabranch_webhook_sink_dead_letters_total", `reason="status_4xx"`), 20},
		{"dead in both ways", s.sum("anabranch_webhook_sink_dead_letters_total"), s.sum("anabranch_webhook_sink_deliveries_total", `result="dead"`)},
		{"dead letters", s.deadLetters(), 3 + 20},
		{"destinations beyond the bound", s.sum("anabranch_metrics_other_destinations"), 1},
		{"of those, by the router", s.sum("anabranch_router_events_total", `destination="_other"`), s.sum("anabranch_webhook_sink_deliveries_total", `destination="_other"`, `result="d`) + 5},
		{"ready", s.sum("anabranch_ready"), 1},
		{"age of the oldest", s.sum("anabranch_router_oldest_unrouted_seconds") + s.sum("anabranch_webhook_sink_oldest_undelivered_seconds") + s.sum("anabranch_webhook_sink_oldest_retry_seconds"), 0},
		{"answers to calls", s.sum("anabranch_ingest_request_seconds_count"), float64(sent)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	for _, client := range []string{"ingest", "router", "webhook-sink", "workspace", "admin"} {
		if s.sum("anabranch_kafka_read_bytes_total", `client="`+client+`"`) == 0 {
			t.Errorf("the client of %s has read nothing", client)
		}
	}
}
