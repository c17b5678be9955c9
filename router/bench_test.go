package router

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// BenchmarkRouter is the cost of the whole stage per event of 1 KB, which goes
// to two destinations, together with that of the broker in the same process; with copies
// told, and without; with the journal and without.
func BenchmarkRouter(b *testing.B) {
	for name, window := range map[string]time.Duration{"once": 24 * time.Hour, "all": 0} {
		for _, journal := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/journal=%t", name, journal), func(b *testing.B) { benchmark(b, window, journal) })
		}
	}
}

func benchmark(b *testing.B, window time.Duration, journal bool) {
	b.Helper()
	bench := newBench(b, testkit.Fake(b, kfake.NumBrokers(1)))
	pad := incompressible(900)
	events := make([]*kgo.Record, b.N)
	for i := range events {
		events[i] = event(fmt.Sprintf("u%d", i%100), i, schemas.Headers{Source: "web"})
		events[i].Value = fmt.Appendf(nil, `{"type":"track","pad":%q}`, pad)
	}
	bench.send(b, events...)
	r := bench.router(b, func(cfg *Config, set *Settings) {
		cfg.MaxRecords, cfg.Dedup, cfg.DataDir, set.Journal = 2000, window, b.TempDir(), journal
	})
	routed := r.stage.metrics.events.WithLabelValues("crm", string(routed))
	b.ReportAllocs()
	b.ResetTimer()
	cpu := processTime()
	start(b, r)
	testkit.Until(b, func() bool { return testutil.ToFloat64(routed) == float64(b.N) }, "all events to be routed")
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64((processTime()-cpu).Nanoseconds())/float64(b.N), "cpu-ns/event")
}

// processTime is the time that the process has had of its processors, on whichever it was:
// others may use them too.
func processTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
