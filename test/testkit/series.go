package testkit

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Series returns the value of one series, or how many observations a histogram has;
// 0 when there is none. The values of labels come in the order of the labels' names.
func Series(tb testing.TB, from prometheus.Gatherer, name string, labels ...string) float64 {
	tb.Helper()
	families, err := from.Gather()
	if err != nil {
		tb.Fatalf("gather: %v", err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			values := make([]string, 0, len(m.GetLabel()))
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			if slices.Equal(values, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return 0
}
