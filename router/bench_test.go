package router

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// BenchmarkRouter is the cost of the whole stage per event of 1 KB, which goes
// to two destinations, together with that of the broker in the same process.
func BenchmarkRouter(b *testing.B) {
	bench := newBench(b, testkit.Fake(b, kfake.NumBrokers(1)))
	pad := incompressible(900)
	events := make([]*kgo.Record, b.N)
	for i := range events {
		events[i] = event(fmt.Sprintf("u%d", i%100), i, schemas.Headers{Source: "web"})
		events[i].Value = fmt.Appendf(nil, `{"type":"track","pad":%q}`, pad)
	}
	bench.send(b, events...)
	r := bench.router(b)
	routed := r.stage.metrics.events.WithLabelValues("crm", string(routed))
	b.ReportAllocs()
	b.ResetTimer()
	start(b, r)
	testkit.Until(b, func() bool { return testutil.ToFloat64(routed) == float64(b.N) }, "all events to be routed")
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
