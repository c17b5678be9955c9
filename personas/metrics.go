package personas

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/store"
)

// What may become of a record, as the label result of the events has it.
const (
	folded    = "folded"
	own       = "own"       // a call that the stage has made
	nobody    = "nobody"    // it has no user
	deleted   = "deletion"  // the request to delete its user
	duplicate = "duplicate" // a copy of a call that was counted
	forwarded = "forwarded" // its user is another one by now
	ignored   = "ignored"   // nothing is defined
	invalid   = "invalid"
)

// What may become of restoring partitions, as the label result of the restores has it.
const (
	restored = "done"
	refused  = "refused" // state and offsets do not fit each other
	unread   = "failed"  // the brokers or the store did not do what they should
)

// metrics are the stage's. What a transaction does counts when it has committed.
type metrics struct {
	events     *prometheus.CounterVec
	told       *prometheus.CounterVec
	withheld   prometheus.Counter
	ticks      prometheus.Counter
	timers     prometheus.Counter
	overdue    prometheus.Gauge
	restores   *prometheus.CounterVec
	restored   prometheus.Counter
	left       prometheus.Gauge
	broken     prometheus.Gauge
	filled     prometheus.Counter
	unfilled   prometheus.Gauge
	swept      prometheus.Counter
	unreadable prometheus.Counter
	merges     *prometheus.CounterVec
	unusual    *prometheus.CounterVec

	committed, aborted prometheus.Counter
	duration           prometheus.Histogram

	now     tally         // of the transaction in the making
	counted engine.Counts // the same, by the engine
}

// tally is what a transaction does.
type tally struct {
	events map[string]int
	told   map[[2]string]int
	merges map[string]int

	ticks, timers, filled, swept, withheld int
}

func newTally() tally {
	return tally{events: make(map[string]int), told: make(map[[2]string]int), merges: make(map[string]int)}
}

// gauges are those of what is not processed yet.
func gauges() runner.Gauges {
	return runner.Gauges{
		Lag: prometheus.NewDesc("anabranch_personas_lag_records",
			"Records on raw-events and personas-internal that are not processed, on the partitions of this process. Transaction markers among those not read yet are counted too.", nil, nil),
		Oldest: prometheus.NewDesc("anabranch_personas_oldest_unprocessed_seconds",
			"How long ago the oldest record was written that is not processed, on the partitions of this process; 0 when there is none.", nil, nil),
		Stalled: prometheus.NewDesc("anabranch_personas_stalled_seconds",
			"Longest time for which a partition of this process has stood still with records to read, while the brokers answered; 0 when none does.", nil, nil),
	}
}

func newMetrics(reg prometheus.Registerer, s *attended) *metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "anabranch_personas_" + name, Help: help})
		reg.MustRegister(c)
		return c
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "anabranch_personas_" + name, Help: help}, labels)
		reg.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "anabranch_personas_" + name, Help: help})
		reg.MustRegister(g)
		return g
	}
	transactions := counters("transactions_total", "Transactions by result: committed, aborted (a rebalance or a failed write; the records are processed again).", "result")
	m := &metrics{
		events:     counters("events_total", "Calls by result: folded into the state of their user, own (made by this stage), deletion (of their user), duplicate (copies of calls within PERSONAS_DEDUP_WINDOW, and redriven ones), forwarded (their user is another one by now), nobody (without a user), ignored (nothing is defined), invalid (not a call).", "result"),
		told:       counters("told_total", "Changes that were told, by class (audience, computed_trait) and cause (event, timer, edit, merge, sweep, resync).", "class", "cause"),
		withheld:   counter("withheld_total", "Changes that were not told, since their user is suppressed."),
		ticks:      counter("ticks_total", "Ticks of the partitions' clocks that were processed."),
		timers:     counter("timers_total", "Users who were looked at because time had passed."),
		overdue:    gauge("timers_overdue_seconds", "How far the clock of the partition that is furthest behind is behind the time of its last tick."),
		restores:   counters("restores_total", "Attempts to restore the state of users of partitions, by result: done, refused (their state and the offsets of the group do not fit each other), failed (the brokers or the store did not do what they should). What is not done is tried again.", "result"),
		broken:     gauge("store_failed", "1 when the store of the state of users has failed, which ends the process, else 0."),
		restored:   counter("restored_records_total", "Records of personas-changelog that were read to restore the state of users."),
		left:       gauge("restore_left_records", "Records of personas-changelog that are still to be read before partitions can be processed; 0 when none is being restored."),
		filled:     counter("backfilled_records_total", "Records of raw-events that were read once more for new definitions."),
		unfilled:   gauge("backfill_left_records", "Offsets of raw-events that are still to be read once more for new definitions, on the partitions of this process."),
		swept:      counter("swept_users_total", "Users who were looked at because definitions had changed."),
		unreadable: counter("unreadable_records_total", "Times a partition was not processed since the record of a user can't be read; the log names it."),
		merges:     counters("merges_total", "Ids that became another user's, by result: merged, linked (there was no state), refused (it is another user's already), limited (the user claimed too many), given_up (it was passed on too often).", "result"),
		unusual:    counters("unusual_total", "What was out of the ordinary, by what: not_number (a value that sum, avg, min or max left out), too_long (a value of more than 4 KiB that was left out), set_full (a value that a full set let go), record_full (times the state of a user let go of what is oldest, to take at most 64 KiB), future (a call from after its receipt, which counts as of its receipt), old (an event that came after its window had passed, and changes nothing), broken (a state that could not be read, and is taken for empty).", "what"),
		committed:  transactions.WithLabelValues("committed"),
		aborted:    transactions.WithLabelValues("aborted"),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anabranch_personas_transaction_seconds", Help: "Time from the beginning of a transaction to its end.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
		now: newTally(),
	}
	reg.MustRegister(m.duration)
	for _, result := range []string{folded, own, nobody, deleted, duplicate, forwarded, ignored, invalid} {
		m.events.WithLabelValues(result)
	}
	for _, result := range []string{restored, refused, unread} {
		m.restores.WithLabelValues(result)
	}
	for what := range m.counted.Drain() {
		m.unusual.WithLabelValues(what)
	}
	of := func(name, help string, value func(store.Stats) int64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "anabranch_personas_" + name, Help: help}, func() float64 { return float64(value(s.Stats())) }))
	}
	of("store_disk_bytes", "Bytes that the files of the state of users take.", func(s store.Stats) int64 { return s.DiskBytes })
	of("store_memory_bytes", "Bytes of memory that the state of users takes, about.", func(s store.Stats) int64 { return s.MemoryBytes })
	return m
}

func (m *metrics) tell(c *engine.Change) { m.now.told[[2]string{string(c.Class), string(c.Cause)}]++ }

func (m *metrics) commit(begun time.Time) {
	for result, n := range m.now.events {
		m.events.WithLabelValues(result).Add(float64(n))
	}
	for of, n := range m.now.told {
		m.told.WithLabelValues(of[0], of[1]).Add(float64(n))
	}
	for result, n := range m.now.merges {
		m.merges.WithLabelValues(result).Add(float64(n))
	}
	for what, n := range m.counted.Drain() {
		m.unusual.WithLabelValues(what).Add(float64(n))
	}
	m.ticks.Add(float64(m.now.ticks))
	m.timers.Add(float64(m.now.timers))
	m.filled.Add(float64(m.now.filled))
	m.swept.Add(float64(m.now.swept))
	m.withheld.Add(float64(m.now.withheld))
	m.committed.Inc()
	m.duration.Observe(time.Since(begun).Seconds())
}

func (m *metrics) end() {
	m.now = newTally()
	m.counted.Drain()
}
