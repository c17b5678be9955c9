package router

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
)

// crowd is a workspace of so many destinations, with ids as long as they may be.
func crowd(n int) *workspace.Snapshot {
	destinations := make([]workspace.Destination, n)
	for i := range destinations {
		destinations[i].ID = fmt.Sprintf("%s-%06d", strings.Repeat("d", 57), i)
	}
	return workspace.NewSnapshot(nil, destinations)
}

func crowdedMetrics(reg prometheus.Registerer, ws *workspace.Snapshot) *metrics {
	m := newMetrics(reg, telemetry.NewDestinations(telemetry.MaxDestinations, reg, slog.New(slog.DiscardHandler)))
	m.follow(ws)
	return m
}

// TestTenThousandDestinations: what the router tells of them is bounded, and still
// adds up.
func TestTenThousandDestinations(t *testing.T) {
	t.Parallel()
	registry, ws := prometheus.NewRegistry(), crowd(10_000)
	m := crowdedMetrics(registry, ws)
	var decisions []decision
	for _, d := range ws.Destinations() {
		for _, res := range []result{routed, filtered, dead} {
			decisions = append(decisions, decision{destination: d.ID, result: res})
		}
	}
	m.commit(decisions, time.Now())
	text := scrape(t, registry)
	if len(text) > 300<<10 {
		t.Errorf("the router's part of a scrape is %d bytes", len(text))
	}
	if got := testutil.ToFloat64(m.events.WithLabelValues(telemetry.OtherDestinations, string(routed))); got != 10_000-telemetry.MaxDestinations {
		t.Errorf("%v events of others, want those of all but %d destinations", got, telemetry.MaxDestinations)
	}
	if bytes.Count(text, []byte(`result="routed"`)) != telemetry.MaxDestinations+1 {
		t.Error("there is not one series for each destination within the bound, and one for the others")
	}
}

func scrape(tb testing.TB, registry *prometheus.Registry) []byte {
	tb.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(tb.Context(), http.MethodGet, "/metrics", nil))
	text, err := io.ReadAll(w.Body)
	if err != nil || w.Code != http.StatusOK {
		tb.Fatalf("scrape: %d, %v", w.Code, err)
	}
	return text
}

// BenchmarkCommit counts one transaction of a thousand events.
func BenchmarkCommit(b *testing.B) {
	m := crowdedMetrics(prometheus.NewRegistry(), crowd(100))
	decisions := make([]decision, 1000)
	for i := range decisions {
		decisions[i] = decision{destination: fmt.Sprintf("%s-%06d", strings.Repeat("d", 57), i%100), result: routed}
	}
	b.ReportAllocs()
	for b.Loop() {
		m.commit(decisions, time.Now())
	}
}
