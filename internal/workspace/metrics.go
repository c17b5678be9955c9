package workspace

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type followerMetrics struct {
	read, unreadable      prometheus.Counter
	sources, destinations prometheus.Gauge
}

func newFollowerMetrics(reg prometheus.Registerer) *followerMetrics {
	factory := promauto.With(reg)
	records := factory.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_workspace_records_total",
		Help: "Records of the workspace topic, by whether they could be read.",
	}, []string{"result"})
	return &followerMetrics{
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
	}
}

type watcherMetrics struct {
	applied, refused, failed prometheus.Counter
}

func newWatcherMetrics(reg prometheus.Registerer) *watcherMetrics {
	changes := promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_workspace_file_changes_total",
		Help: "Changes of the workspace file: applied, refused for what the file says, or failed to be applied and tried again.",
	}, []string{"result"})
	return &watcherMetrics{
		applied: changes.WithLabelValues("applied"),
		refused: changes.WithLabelValues("refused"),
		failed:  changes.WithLabelValues("failed"),
	}
}
