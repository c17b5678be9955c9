package router

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/workspace"
)

// metrics are the router's. Events are counted when their transaction has
// committed, never before: an aborted transaction is routed again.
type metrics struct {
	events       *prometheus.CounterVec
	transactions *prometheus.CounterVec
	duration     prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anabranch_router_events_total",
			Help: "Events by destination and result: routed, filtered by the integrations map, dead (in dead-letters), unconnected (no destination listens to the source; destination is empty).",
		}, []string{"destination", "result"}),
		transactions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anabranch_router_transactions_total",
			Help: "Transactions by result: committed, aborted (a rebalance or a failed write; the events are routed again).",
		}, []string{"result"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "anabranch_router_transaction_seconds",
			Help:    "Time from the begin of a transaction to its end.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
	}
	reg.MustRegister(m.events, m.transactions, m.duration)
	m.events.WithLabelValues("", string(unconnected))
	m.events.WithLabelValues("", string(dead))
	m.transactions.WithLabelValues("committed")
	m.transactions.WithLabelValues("aborted")
	return m
}

// follow creates the series of every destination, so that a rate over them
// sees the first event too.
func (m *metrics) follow(s *workspace.Snapshot) {
	for _, d := range s.Destinations() {
		for _, res := range []result{routed, filtered, dead} {
			m.events.WithLabelValues(d.ID, string(res))
		}
	}
}

func (m *metrics) committed(decisions []decision, since time.Time) {
	m.transactions.WithLabelValues("committed").Inc()
	m.duration.Observe(time.Since(since).Seconds())
	for _, d := range decisions {
		m.events.WithLabelValues(d.destination, string(d.result)).Inc()
	}
}

func (m *metrics) aborted(since time.Time) {
	m.transactions.WithLabelValues("aborted").Inc()
	m.duration.Observe(time.Since(since).Seconds())
}
