package wswatch

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	applied, refused, failed prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	changes := promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_workspace_file_changes_total",
		Help: "Changes of the workspace file: applied, refused for what the file says, or failed to be applied and retried.",
	}, []string{"result"})
	return &metrics{
		applied: changes.WithLabelValues("applied"),
		refused: changes.WithLabelValues("refused"),
		failed:  changes.WithLabelValues("failed"),
	}
}
