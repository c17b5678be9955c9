package regulate

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/anabranch/anabranch/internal/regulation"
)

type metrics struct {
	requests      map[regulation.Type]prometheus.Counter
	notifications prometheus.Counter
	finished      prometheus.Counter
	failed        prometheus.Counter
	attempts      prometheus.Counter
	rekeyed       prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, register *regulation.Register) *metrics {
	factory := promauto.With(reg)
	requests := factory.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_ingest_regulations_total",
		Help: "Regulations that this process has accepted and stored, by type.",
	}, []string{"type"})
	ended := factory.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_ingest_regulations_ended_total",
		Help: "Regulations with notifications that this process has ended, by status.",
	}, []string{"status"})
	m := &metrics{
		requests: make(map[regulation.Type]prometheus.Counter),
		notifications: factory.NewCounter(prometheus.CounterOpts{
			Name: "anabranch_ingest_deletions_total",
			Help: "Deletion notifications that this process has written to raw-events, one for each user and affected source.",
		}),
		finished: ended.WithLabelValues(string(regulation.Finished)),
		failed:   ended.WithLabelValues(string(regulation.Failed)),
		attempts: factory.NewCounter(prometheus.CounterOpts{
			Name: "anabranch_ingest_regulation_attempts_failed_total",
			Help: "Failed attempts to carry out a regulation; each is retried.",
		}),
		rekeyed: factory.NewCounter(prometheus.CounterOpts{
			Name: "anabranch_ingest_suppressed_users_rekeyed_total",
			Help: "Suppressed users whom this process has recognised by an earlier key of SUPPRESSION_KEY, or without one, and written under the current one.",
		}),
	}
	for _, t := range regulation.Types() {
		m.requests[t] = requests.WithLabelValues(string(t))
	}
	factory.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "anabranch_ingest_suppressed_users",
		Help: "Users whose calls are dropped.",
	}, func() float64 { return float64(register.Suppressed.Len()) })
	factory.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "anabranch_ingest_suppressed_users_without_key",
		Help: "Users who are suppressed under a key that SUPPRESSION_KEY of this process lacks: their calls are not recognised, and not dropped.",
	}, func() float64 {
		_, users := register.Suppressed.Missing()
		return float64(users)
	})
	factory.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "anabranch_ingest_regulations_unfinished",
		Help: "Regulations that have neither finished nor failed, over all processes.",
	}, func() float64 { return float64(len(register.Unfinished())) })
	return m
}
