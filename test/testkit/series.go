package testkit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
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
			if slices.Equal(labelled(m), labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return 0
}

// Counters returns every counter by its name and the values of its labels, with spaces
// between them.
func Counters(tb testing.TB, from prometheus.Gatherer) map[string]float64 {
	tb.Helper()
	families, err := from.Gather()
	if err != nil {
		tb.Fatalf("gather: %v", err)
	}
	all := make(map[string]float64)
	for _, f := range families {
		if f.GetType() != dto.MetricType_COUNTER {
			continue
		}
		for _, m := range f.GetMetric() {
			all[strings.Join(append([]string{f.GetName()}, labelled(m)...), " ")] = m.GetCounter().GetValue()
		}
	}
	return all
}

// labelled are the values of a series' labels, in the order of the labels' names.
func labelled(m *dto.Metric) []string {
	values := make([]string, 0, len(m.GetLabel()))
	for _, l := range m.GetLabel() {
		values = append(values, l.GetValue())
	}
	return values
}

// Counted waits until a counter or a gauge shows want. What a metric counts is often seen
// first: a stage counts when it is done, a reader sees what it did a moment earlier.
func Counted(tb testing.TB, c prometheus.Collector, want float64) {
	tb.Helper()
	Until(tb, func() bool { return testutil.ToFloat64(c) == want }, fmt.Sprintf("the metric to show %v", want))
}
