package router

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
)

// metrics are the router's. Events are counted when their transaction has
// committed, never before: an aborted transaction is routed again. It belongs to the
// loop: one goroutine uses it.
type metrics struct {
	events    *prometheus.CounterVec
	committed prometheus.Counter
	aborted   prometheus.Counter
	duration  prometheus.Histogram
	deleted   prometheus.Counter // lost to retention; the client's goroutine counts it
	// unavailable is how many destinations have a topic that can't be written to.
	unavailable prometheus.Gauge

	destinations *telemetry.Destinations
	tallies      map[string]*tally // by id
}

// tally is the counters of one destination, looked up once: to find a series by its
// labels costs more than to count. Destinations that share a label share them.
type tally struct{ routed, filtered, dead, unconnected prometheus.Counter }

func newMetrics(reg prometheus.Registerer, destinations *telemetry.Destinations) *metrics {
	transactions := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_router_transactions_total",
		Help: "Transactions by result: committed, aborted (a rebalance or a failed write; the events are routed again).",
	}, []string{"result"})
	m := &metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anabranch_router_events_total",
			Help: "Events by destination and result: routed, filtered by the integrations map, dead (in dead-letters; destination is empty where none was known yet), unconnected (no destination listens to the source; destination is empty).",
		}, []string{"destination", "result"}),
		committed: transactions.WithLabelValues("committed"),
		aborted:   transactions.WithLabelValues("aborted"),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "anabranch_router_transaction_seconds",
			Help:    "Time from the begin of a transaction to its end.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
		deleted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anabranch_router_deleted_unrouted_total",
			Help: "Events that raw-events deleted before they were routed, those of markers of transactions included, as a router found when it was given their partition.",
		}),
		unavailable: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anabranch_router_topics_unavailable",
			Help: "Destinations whose topic this router cannot write to: it can't be created, a partition has no leader, or brokers refuse its records. Their events go to dead-letters.",
		}),
		destinations: destinations,
		tallies:      make(map[string]*tally),
	}
	reg.MustRegister(m.events, transactions, m.duration, m.deleted, m.unavailable)
	m.tallies[""] = &tally{
		dead:        m.events.WithLabelValues("", string(dead)),
		unconnected: m.events.WithLabelValues("", string(unconnected)),
	}
	return m
}

// follow creates the series of every destination, so that a rate over them
// sees the first event too.
func (m *metrics) follow(s *workspace.Snapshot) {
	for _, d := range s.Destinations() {
		m.of(d.ID)
	}
}

func (m *metrics) of(destination string) *tally {
	t := m.tallies[destination]
	if t == nil {
		label := m.destinations.Label(destination)
		t = &tally{
			routed:   m.events.WithLabelValues(label, string(routed)),
			filtered: m.events.WithLabelValues(label, string(filtered)),
			dead:     m.events.WithLabelValues(label, string(dead)),
		}
		m.tallies[destination] = t
	}
	return t
}

func (m *metrics) commit(decisions []decision, since time.Time) {
	m.committed.Inc()
	m.duration.Observe(time.Since(since).Seconds())
	for i := range decisions {
		m.of(decisions[i].destination).count(decisions[i].result)
	}
}

func (t *tally) count(res result) {
	switch res {
	case routed:
		t.routed.Inc()
	case filtered:
		t.filtered.Inc()
	case dead:
		t.dead.Inc()
	case unconnected:
		t.unconnected.Inc()
	}
}

func (m *metrics) abort(since time.Time) {
	m.aborted.Inc()
	m.duration.Observe(time.Since(since).Seconds())
}
