package scrape

import (
	"fmt"
	"io"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Page is what a process shows of its metrics, at one moment.
type Page struct{ families map[string]*dto.MetricFamily }

// Read parses a page. One of which a line can't be read is an error as a whole: what is
// missing would look like zero.
func Read(page io.Reader) (Page, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(page)
	if err != nil {
		return Page{}, fmt.Errorf("read metrics: %w", err)
	}
	return Page{families}, nil
}

// Sum adds up the values of the counters or gauges of a name that have the labels, each
// a name followed by its value, and returns how many there are.
func (p Page) Sum(name string, labels ...string) (sum float64, series int) {
	for _, m := range p.families[name].GetMetric() {
		if has(m, labels) {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
			series++
		}
	}
	return sum, series
}

func has(m *dto.Metric, labels []string) bool {
	found := 0
	for _, l := range m.GetLabel() {
		for i := 0; i < len(labels); i += 2 {
			if l.GetName() == labels[i] && l.GetValue() == labels[i+1] {
				found++
			}
		}
	}
	return 2*found == len(labels)
}
