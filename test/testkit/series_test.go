package testkit

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestSeries(t *testing.T) {
	t.Parallel()
	books := prometheus.NewRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "calls_total", Help: "h"}, []string{"b", "a"})
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "seconds", Help: "h"})
	books.MustRegister(counter, histogram)
	counter.With(prometheus.Labels{"a": "1", "b": "2"}).Add(3)
	histogram.Observe(7)
	for _, c := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"calls_total", []string{"1", "2"}, 3},
		{"calls_total", []string{"2", "1"}, 0},
		{"calls_total", nil, 0},
		{"seconds", nil, 1},
		{"none", nil, 0},
	} {
		if got := Series(t, books, c.name, c.labels...); got != c.want {
			t.Errorf("%s%v = %v, want %v", c.name, c.labels, got, c.want)
		}
	}
}
