package router

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
)

// metrics are the router's. Events are counted when their transaction has
// committed, never before: an aborted transaction is routed again. It belongs to the
// loop: one goroutine uses it, but for follow.
type metrics struct {
	events    *prometheus.CounterVec
	committed prometheus.Counter
	aborted   prometheus.Counter
	duration  prometheus.Histogram
	// unavailable is how many destinations have a topic that can't be written to.
	unavailable prometheus.Gauge

	destinations *telemetry.Destinations
	tallies      map[string]*tally // by id
}

// gauges are those of what is not routed yet.
func gauges() runner.Gauges {
	return runner.Gauges{
		Lag: prometheus.NewDesc("anabranch_router_lag_records",
			"Events on raw-events that are not routed, on the partitions of this process. Transaction markers among those not read yet are counted too.", nil, nil),
		Oldest: prometheus.NewDesc("anabranch_router_oldest_unrouted_seconds",
			"How long ago ingest accepted the oldest event that is not routed, on the partitions of this process; 0 when there is none.", nil, nil),
		Stalled: prometheus.NewDesc("anabranch_router_stalled_seconds",
			"Longest time for which a partition of this process on raw-events has stood still with records to read, while the brokers answered; 0 when none does.", nil, nil),
	}
}

// tally is the counters of one destination, looked up once: to find a series by its
// labels costs more than to count. Destinations that share a label share them.
type tally struct{ routed, filtered, dead, unconnected, duplicate prometheus.Counter }

func newMetrics(reg prometheus.Registerer, destinations *telemetry.Destinations) *metrics {
	transactions := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_router_transactions_total",
		Help: "Transactions by result: committed, aborted (a rebalance or a failed write; the events are routed again).",
	}, []string{"result"})
	m := &metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anabranch_router_events_total",
			Help: "Events by destination and result: routed, filtered by the integrations map or by the destinations that an audience or a computed trait names, dead (in dead-letters; destination is empty where none was known yet), unconnected (no destination listens to the source; destination is empty), duplicate (a copy of a call that was routed within ROUTER_DEDUP_WINDOW; destination is empty).",
		}, []string{"destination", "result"}),
		committed: transactions.WithLabelValues("committed"),
		aborted:   transactions.WithLabelValues("aborted"),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "anabranch_router_transaction_seconds",
			Help:    "Time from the beginning of a transaction to its end.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
		unavailable: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anabranch_router_topics_unavailable",
			Help: "Destinations whose topic this router cannot write to: it can't be created, a partition has no leader, or brokers refuse its records. Their events go to dead-letters.",
		}),
		destinations: destinations,
		tallies:      make(map[string]*tally),
	}
	reg.MustRegister(m.events, transactions, m.duration, m.unavailable)
	m.tallies[""] = &tally{
		dead:        m.events.WithLabelValues("", string(dead)),
		unconnected: m.events.WithLabelValues("", string(unconnected)),
		duplicate:   m.events.WithLabelValues("", string(duplicate)),
	}
	return m
}

// follow creates the series of every destination, so that a rate over them
// sees the first event too. Any goroutine may call it.
func (m *metrics) follow(s *workspace.Snapshot) {
	for _, d := range s.Destinations() {
		m.newTally(d.ID)
	}
}

func (m *metrics) newTally(destination string) *tally {
	label := m.destinations.Label(destination)
	return &tally{
		routed:   m.events.WithLabelValues(label, string(routed)),
		filtered: m.events.WithLabelValues(label, string(filtered)),
		dead:     m.events.WithLabelValues(label, string(dead)),
	}
}

func (m *metrics) of(destination string) *tally {
	t := m.tallies[destination]
	if t == nil {
		t = m.newTally(destination)
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
	case duplicate:
		t.duplicate.Inc()
	}
}

func (m *metrics) abort(since time.Time) {
	m.aborted.Inc()
	m.duration.Observe(time.Since(since).Seconds())
}
