package lag

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Total is what waits on some partitions.
type Total struct {
	Records int64
	Oldest  time.Time // when the first of them was taken; zero when there is none
}

// Add adds what waits on others.
func (t *Total) Add(o Total) {
	t.Records += o.Records
	if t.Oldest.IsZero() || !o.Oldest.IsZero() && o.Oldest.Before(t.Oldest) {
		t.Oldest = o.Oldest
	}
}

// Age is how long ago the first record was taken; 0 when there is none, or when the
// clock that says so is ahead of ours.
func (t *Total) Age(now time.Time) time.Duration {
	if t.Oldest.IsZero() {
		return 0
	}
	return max(now.Sub(t.Oldest), 0)
}

// Gauges show totals: records, and seconds since the first of them was taken.
type Gauges struct{ Lag, Oldest *prometheus.Desc }

// Describe is that of a [prometheus.Collector].
func (g Gauges) Describe(ch chan<- *prometheus.Desc) { ch <- g.Lag; ch <- g.Oldest }

// Collect shows a total under labels.
func (g Gauges) Collect(ch chan<- prometheus.Metric, t Total, now time.Time, labels ...string) {
	ch <- prometheus.MustNewConstMetric(g.Lag, prometheus.GaugeValue, float64(t.Records), labels...)
	ch <- prometheus.MustNewConstMetric(g.Oldest, prometheus.GaugeValue, t.Age(now).Seconds(), labels...)
}
