package telemetry_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/schemas"
)

func TestDestinationsBeyondTheBoundShareALabel(t *testing.T) {
	var log bytes.Buffer
	registry := prometheus.NewRegistry()
	d := telemetry.NewDestinations(2, registry, slog.New(slog.NewTextHandler(&log, nil)))
	for range 2 { // a place that was given is kept
		for _, step := range [][2]string{{"a", "a"}, {"b", "b"}, {"c", "_other"}, {"d", "_other"}, {"a", "a"}} {
			if got := d.Label(step[0]); got != step[1] {
				t.Errorf("Label(%q) = %q, want %q", step[0], got, step[1])
			}
		}
	}
	if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "METRICS_MAX_DESTINATIONS") {
		t.Errorf("logged %d lines, want one that names the setting:\n%s", lines, &log)
	}
	want := "# HELP anabranch_metrics_other_destinations Destinations whose series are added up under destination=\"_other\", because METRICS_MAX_DESTINATIONS others have series of their own.\n# TYPE anabranch_metrics_other_destinations gauge\nanabranch_metrics_other_destinations 2\n"
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

func TestNoDestinationIsCalledOther(t *testing.T) {
	if schemas.ValidID(telemetry.OtherDestinations) {
		t.Errorf("a destination may be called %q", telemetry.OtherDestinations)
	}
}

func TestDestinationsAgreeUnderManyHands(t *testing.T) {
	d := telemetry.NewDestinations(10, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	results := make(chan string)
	for range 4 {
		go func() {
			var all strings.Builder
			for i := range 100 {
				fmt.Fprintln(&all, d.Label(fmt.Sprint("d", i)))
			}
			results <- all.String()
		}()
	}
	first := <-results
	for range 3 {
		if other := <-results; other != first {
			t.Error("two stages of one process label a destination differently")
		}
	}
	own := map[string]bool{}
	for label := range strings.Lines(first) {
		own[label] = true
	}
	if len(own) != 11 {
		t.Errorf("%d labels for 100 destinations, want 10 and the shared one", len(own))
	}
}
