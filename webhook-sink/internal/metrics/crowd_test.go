package metrics

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/anabranch/anabranch/internal/kafka/lag"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// crowd is the metrics of ten thousand destinations with the longest ids, all of
// which have had every kind of end and have a backlog; a tenth is down.
func crowd(tb testing.TB) *prometheus.Registry {
	tb.Helper()
	registry, log := prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	a := New(registry, telemetry.NewDestinations(telemetry.MaxDestinations, registry, log), log)
	destinations, backlogs := make([]workspace.Destination, 10_000), make([]partition.Progress, 10_000)
	for i := range destinations {
		id := fmt.Sprintf("%s-%06d", strings.Repeat("d", 57), i)
		destinations[i].ID = id
		backlogs[i] = partition.Progress{Place: partition.Place{Topic: schemas.DeliverTopic(id)}, Destination: id, Total: lag.Total{Records: 1_000_000, Oldest: time.Now().Add(-time.Hour)}}
	}
	a.Follow(workspace.NewSnapshot(nil, destinations))
	for i := range destinations {
		t := a.of(destinations[i].ID)
		for _, counter := range []prometheus.Counter{t.delivered, t.retried, t.dead} {
			counter.Add(123_456)
		}
		for _, reason := range attemptReasons() {
			a.Posted(destinations[i].ID, string(reason))
		}
		a.Posted(destinations[i].ID, outcome.LabelDelivered)
		a.LeftOut(destinations[i].ID)
		a.Down(destinations[i].ID, i%10/9)
	}
	a.Watch(Views{Progress: func() []partition.Progress { return backlogs }})
	return registry
}

func scrape(tb testing.TB, registry *prometheus.Registry) string {
	tb.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(tb.Context(), http.MethodGet, "/metrics", nil))
	text, err := io.ReadAll(w.Body)
	if err != nil || w.Code != http.StatusOK {
		tb.Fatalf("scrape: %d, %v", w.Code, err)
	}
	return string(text)
}

// TestTenThousandDestinations: what the sink tells of them is bounded and adds up.
// Beside it the router has 300 KiB, and all else in a process 100.
func TestTenThousandDestinations(t *testing.T) {
	t.Parallel()
	registry := crowd(t)
	text := scrape(t, registry)
	if len(text) > 1300<<10 {
		t.Errorf("the sink's part of a scrape is %d bytes", len(text))
	}
	for series, want := range map[string]string{
		`anabranch_webhook_sink_attempts_total{destination="_other",outcome="timeout"}`:    strconv.Itoa(10_000 - telemetry.MaxDestinations),
		`anabranch_webhook_sink_endpoints_down{destination="_other"}`:                      strconv.Itoa((10_000 - telemetry.MaxDestinations) / 10),
		`anabranch_webhook_sink_deliveries_total{destination="_other",result="delivered"}`: "1.172832e+09",
		`anabranch_webhook_sink_lag_records{destination="_other"}`:                         "9.5e+09",
	} {
		if !strings.Contains(text, "\n"+series+" "+want+"\n") {
			_, found, _ := strings.Cut(text, series)
			t.Errorf("%s is%.20q, want %s", series, found, want)
		}
	}
}

// BenchmarkScrape: 200 ms are allowed on an idle machine.
func BenchmarkScrape(b *testing.B) {
	registry := crowd(b)
	size := 0
	for b.Loop() {
		size = len(scrape(b, registry))
	}
	b.ReportMetric(float64(size), "B")
}
