package telemetry

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// NewRegistry returns a registry that already holds what every Go process has to tell: go_* and process_*. The packages
// of the process add their own metrics to it through the registerer they are handed.
func NewRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return registry
}

// RegisterProcess adds what tells one process from another: the build that it runs,
// and whether it is ready. ready is that of [Admin]; it is called for each
// scrape.
func RegisterProcess(reg prometheus.Registerer, version string, ready func() error) {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "anabranch_build_info",
		Help:        "1, with the version of Anabranch and of Go that it was built with.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	build.Set(1)
	reg.MustRegister(build, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "anabranch_ready",
		Help: "1 when every stage of the process has its partitions and calls flow, else 0; /readyz says the same.",
	}, func() float64 {
		if ready() != nil {
			return 0
		}
		return 1
	}))
}
