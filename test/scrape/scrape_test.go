package scrape

import (
	"bytes"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// shown is the page of a registry, as a process shows it.
func shown(tb testing.TB, registry *prometheus.Registry) Page {
	tb.Helper()
	families, err := registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	var text bytes.Buffer
	for _, f := range families {
		if _, err = expfmt.MetricFamilyToText(&text, f); err != nil {
			tb.Fatal(err)
		}
	}
	page, err := Read(&text)
	if err != nil {
		tb.Fatal(err)
	}
	return page
}

func TestSum(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	events := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "events_total", Help: "Events."}, []string{"destination", "result"})
	load := prometheus.NewGauge(prometheus.GaugeOpts{Name: "load", Help: "Load."})
	registry.MustRegister(events, load)
	events.WithLabelValues("a", "dead").Add(1)
	events.WithLabelValues("b", "dead").Add(2)
	events.WithLabelValues(`c{"} 7`, "delivered").Add(4)
	load.Set(1.5e9)
	page := shown(t, registry)
	for _, c := range []struct {
		name   string
		labels []string
		sum    float64
		series int
	}{
		{"events_total", nil, 7, 3},
		{"events_total", []string{"result", "dead"}, 3, 2},
		{"events_total", []string{"result", "dead", "destination", "b"}, 2, 1},
		{"events_total", []string{"destination", `c{"} 7`}, 4, 1},
		{"events_total", []string{"result", "retried"}, 0, 0},
		{"load", nil, 1.5e9, 1},
		{"events", nil, 0, 0},
	} {
		if sum, series := page.Sum(c.name, c.labels...); sum != c.sum || series != c.series {
			t.Errorf("%s %v: %v of %d series, expected %v of %d", c.name, c.labels, sum, series, c.sum, c.series)
		}
	}
}

func TestAPageThatIsTornIsAnError(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"events_total{result=\"dead\"} many\n", "events_total{result=\"de", "<html>not found</html>\n"} {
		if _, err := Read(strings.NewReader(page)); err == nil {
			t.Errorf("%q: no error", page)
		}
	}
}
