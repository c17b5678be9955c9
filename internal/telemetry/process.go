package telemetry

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
)

// RegisterProcess adds what tells one process from another: the build that it runs,
// and whether it is ready. ready is that of [AdminHandler]; it is called for each
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
		Help: "1 when every stage of the process has its partitions and a call sent now flows, else 0: what /readyz says.",
	}, func() float64 {
		if ready() != nil {
			return 0
		}
		return 1
	}))
}
