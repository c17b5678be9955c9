package copies

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/seen"
)

// metrics are those of what is remembered. Copies themselves are counted with the
// router's other results.
type metrics struct{ failures *prometheus.CounterVec }

func newMetrics(reg prometheus.Registerer, c *Copies) *metrics {
	m := &metrics{failures: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_router_seen_failures_total",
		Help: "Failures of what the router remembers of calls, which it routes all the same: read (a damaged file, which is replaced), write (its disk takes nothing; memory is used meanwhile), digest (not written to router-seen; raw-events is read where one is missing).",
	}, []string{"operation"})}
	for _, operation := range []string{seen.OperationRead, seen.OperationWrite, digests} {
		m.failures.WithLabelValues(operation)
	}
	reg.MustRegister(m.failures,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "anabranch_router_seen_calls",
			Help: "Calls that this router remembers, so that it tells copies of them.",
		}, func() float64 { all, _ := c.counts(); return float64(all) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "anabranch_router_seen_unwritten_calls",
			Help: "Of these, calls in memory that could not be written to disk: each takes 17 bytes there instead of 1.2.",
		}, func() float64 { _, unwritten := c.counts(); return float64(unwritten) }),
	)
	return m
}

// digests is the operation that package seen knows nothing of.
const digests = "digest"

func (m *metrics) failed(operation string) { m.failures.WithLabelValues(operation).Inc() }
