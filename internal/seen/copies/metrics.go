package copies

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/seen"
)

// metrics are those of what is remembered. Copies themselves are counted with the other
// results of the stage.
type metrics struct{ failures *prometheus.CounterVec }

func newMetrics(set Settings, c *Copies) *metrics {
	name := "anabranch_" + set.Name + "_seen_"
	help := "Failures of what the stage remembers of calls, which it processes all the same: read (a damaged file, which is replaced), write (its disk takes nothing; memory is used meanwhile)"
	operations := []string{seen.OperationRead, seen.OperationWrite}
	if !set.Reader {
		help += ", digest (not written to " + set.Digests + "; " + set.Calls + " is read where one is missing)"
		operations = append(operations, digests)
	}
	m := &metrics{failures: prometheus.NewCounterVec(prometheus.CounterOpts{Name: name + "failures_total", Help: help + "."}, []string{"operation"})}
	for _, operation := range operations {
		m.failures.WithLabelValues(operation)
	}
	set.Registerer.MustRegister(m.failures,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: name + "calls",
			Help: "Calls that this process remembers, so that it tells copies of them.",
		}, func() float64 { all, _ := c.counts(); return float64(all) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: name + "unwritten_calls",
			Help: "Of these, calls in memory that could not be written to disk: each takes 17 bytes there instead of 1.2.",
		}, func() float64 { _, unwritten := c.counts(); return float64(unwritten) }),
	)
	return m
}

// digests is the operation that package seen knows nothing of.
const digests = "digest"

func (m *metrics) failed(operation string) { m.failures.WithLabelValues(operation).Inc() }
