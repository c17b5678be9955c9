package metrics

import (
	"cmp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/kafka/lag"
	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// Views are what is counted only when somebody asks.
type Views struct {
	Progress   func() []partition.Progress // of the partitions that are ours
	Breakers   func() breaker.Counts
	Standstill func() time.Duration // for how long the partition has stood that has stood longest
}

// gathered are the series that are made anew for each scrape, so those of partitions
// that have left are gone with them.
type gathered struct {
	byDestination, byDelay, ofReplays       lag.Gauges
	busyKeys, busyEvents, stalled, breakers *prometheus.Desc
	onPause                                 *prometheus.Desc
}

func newGathered() gathered {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prefix+name, help, labels, nil)
	}
	return gathered{
		byDestination: lag.Gauges{
			Lag: desc("lag_records",
				"Events on the destination's own topic that are not finished, on the partitions of this process. Markers of the router's transactions among those not fetched yet are counted too.", "destination"),
			Oldest: desc("oldest_undelivered_seconds",
				"How long ago ingest accepted the oldest unfinished event on the destination's own topic, on the partitions of this process; 0 when there is none. Events that wait for another attempt are on the retry topics.", "destination"),
		},
		ofReplays: lag.Gauges{
			Lag: desc("replay_lag_records",
				"Events that replays have sent to the destination and that are not finished, on the partitions of this process. They wait behind live events, and while the destination is down; they are no part of lag_records.", "destination"),
			Oldest: desc("oldest_replay_seconds",
				"How long ago a replay sent the oldest unfinished of those events; 0 when there is none.", "destination"),
		},
		busyKeys: desc("busy_keys",
			"Keys (users) set aside so that others do not wait for them, on the partitions of this process: each has more events than its receiver accepts one at a time.", "destination"),
		busyEvents: desc("busy_key_events",
			"Unfinished events of busy keys, approximately; they are part of the lag.", "destination"),
		byDelay: lag.Gauges{
			Lag: desc("retries_waiting",
				"Events on the retry topic of a delay that are not finished, on the partitions of this process.", "delay"),
			Oldest: desc("oldest_retry_seconds",
				"How long the first event on the retry topic of a delay that is not finished has been there, on the partitions of this process; 0 when there is none. It is one and a half delays at most while retries are on time.", "delay"),
		},
		onPause: desc("paused",
			"Destinations whose deliveries are paused, from `anabranch destinations pause` until they are resumed; there are no series of others.", "destination"),
		stalled: desc("stalled_seconds",
			"Longest time for which a partition of this process has stood still with records to read and room for them, while the brokers answered; 0 when none does."),
		breakers: desc("breakers",
			"Endpoints that were tried since the start, by the state of their breaker: closed (attempts are made), open (none is made), probing (one is under way).", "state"),
	}
}

// backlog is the sum of some partitions'.
type backlog struct {
	lag.Total

	busyEvents int64
	busyKeys   int
}

func (b *backlog) note(other partition.Progress) {
	b.Add(other.Total)
	b.busyKeys += other.AsideKeys
	b.busyEvents += other.AsideRecords
}

// sum adds up backlogs by the label of their destination, those of replays too, and
// those of retry topics by delay. Destinations without a backlog are in it, but for those
// that no replay is for.
func (m *Metrics) sum(all []partition.Progress) (firsts, replays, retries map[string]*backlog) {
	firsts, replays, retries = make(map[string]*backlog), make(map[string]*backlog), make(map[string]*backlog)
	m.following.Lock()
	for label := range m.tallies {
		firsts[label] = new(backlog)
	}
	m.following.Unlock()
	for i := range all {
		into, label := firsts, m.of(all[i].Destination).label
		switch {
		case all[i].Destination == "":
			_, delay, _ := strings.Cut(all[i].Topic, ".")
			into, label = retries, delay
		case all[i].Replay:
			into = replays
		}
		if into[label] == nil {
			into[label] = new(backlog)
		}
		into[label].note(all[i])
	}
	return firsts, replays, retries
}

// Watch has the series show what v sees. A session takes the place of the one
// before.
func (m *Metrics) Watch(v Views) { m.views.Store(&v) }

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	m.byDestination.Describe(ch)
	m.byDelay.Describe(ch)
	m.ofReplays.Describe(ch)
	for _, d := range []*prometheus.Desc{m.busyKeys, m.busyEvents, m.stalled, m.breakers, m.onPause} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, label string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, label)
	}
	v := cmp.Or(m.views.Load(), new(Views))
	var all []partition.Progress
	if v.Progress != nil {
		all = v.Progress()
	}
	now := time.Now()
	firsts, replays, retries := m.sum(all)
	for label, b := range firsts {
		m.byDestination.Collect(ch, b.Total, now, label)
		gauge(m.busyKeys, float64(b.busyKeys), label)
		gauge(m.busyEvents, float64(b.busyEvents), label)
	}
	m.following.Lock()
	for label, n := range m.paused {
		gauge(m.onPause, float64(n), label)
	}
	m.following.Unlock()
	for label, b := range replays {
		m.ofReplays.Collect(ch, b.Total, now, label)
	}
	for delay, b := range retries {
		m.byDelay.Collect(ch, b.Total, now, delay)
	}
	var stalled time.Duration
	if v.Standstill != nil {
		stalled = v.Standstill()
	}
	ch <- prometheus.MustNewConstMetric(m.stalled, prometheus.GaugeValue, stalled.Seconds())
	var breakers breaker.Counts
	if v.Breakers != nil {
		breakers = v.Breakers()
	}
	for state, count := range breakers {
		gauge(m.breakers, float64(count), breaker.State(state).String())
	}
}
