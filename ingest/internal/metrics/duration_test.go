package metrics

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/test/virtual"
)

// TestARequestTakesFromWhenItWasRead: how slowly a client sends is no fault of ours.
func TestARequestTakesFromWhenItWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		r := New(registry, slog.New(slog.DiscardHandler))
		o := Outcome{Read: time.Now()}
		virtual.Sleep(30 * time.Millisecond)
		r.Answered(&o)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if !strings.HasSuffix(f.GetName(), "_request_seconds") {
				continue
			}
			if h := f.GetMetric()[0].GetHistogram(); h.GetSampleCount() != 1 || h.GetSampleSum() != 0.03 {
				t.Errorf("%d requests took %v s, want one and 0.03", h.GetSampleCount(), h.GetSampleSum())
			}
			return
		}
		t.Error("there is no such histogram")
	})
}

func TestToMeasureARequestAllocatesNothing(t *testing.T) {
	r := New(prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	o := Outcome{Read: time.Now()}
	if n := testing.AllocsPerRun(100, func() { r.Answered(&o) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
