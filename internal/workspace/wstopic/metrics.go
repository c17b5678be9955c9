package wstopic

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	read, unreadable      prometheus.Counter
	sources, destinations prometheus.Gauge
	locked                prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	factory := promauto.With(reg)
	records := factory.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_workspace_records_total",
		Help: "Records of the workspace topic, by whether they could be read.",
	}, []string{"result"})
	return &metrics{
		read:       records.WithLabelValues("read"),
		unreadable: records.WithLabelValues("unreadable"),
		sources: factory.NewGauge(prometheus.GaugeOpts{
			Name: "anabranch_workspace_sources",
			Help: "Sources in the workspace in force, disabled ones included.",
		}),
		destinations: factory.NewGauge(prometheus.GaugeOpts{
			Name: "anabranch_workspace_destinations",
			Help: "Destinations in the workspace in force, disabled ones included.",
		}),
		locked: factory.NewGauge(prometheus.GaugeOpts{
			Name: "anabranch_workspace_locked_destinations",
			Help: "Destinations whose secrets this process needs and can't decrypt, since SECRETS_KEY lacks their key: their events are held back.",
		}),
	}
}
