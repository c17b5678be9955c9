package archive

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/archive/internal/object"
	"github.com/anabranch/anabranch/internal/kafka/lag"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
)

// metrics are the stage's. It may be used by many goroutines.
type metrics struct {
	events, objects, bytes, failures, commits *prometheus.CounterVec

	gauges  lag.Gauges
	backlog atomic.Pointer[func() map[string]lag.Total]

	destinations *telemetry.Destinations
	mu           sync.Mutex
	tallies      map[string]*tally // by label
}

// tally is the counters of one destination.
type tally struct{ events, objects, bytes, failed prometheus.Counter }

func newMetrics(reg prometheus.Registerer, destinations *telemetry.Destinations) *metrics {
	by := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "anabranch_archive_" + name, Help: help}, labels)
	}
	m := &metrics{
		events:   by("events_total", "Events in objects that were stored, by destination. After a kill or an error, those of an object that is stored again count again.", "destination"),
		objects:  by("objects_total", "Objects that were stored, by destination; see anabranch_archive_events_total.", "destination"),
		bytes:    by("bytes_total", "Bytes of objects that were stored, compressed, by destination.", "destination"),
		failures: by("failures_total", "Attempts to archive a range of events that failed and are repeated, by destination.", "destination"),
		commits:  by("commits_total", "Commits by result: ok, failed (repeated).", "result"),
		gauges: lag.Gauges{
			Lag: prometheus.NewDesc("anabranch_archive_lag_records",
				"Events that are not archived, on the partitions of this process, by destination. Transaction markers are counted too.", []string{"destination"}, nil),
			Oldest: prometheus.NewDesc("anabranch_archive_oldest_unarchived_seconds",
				"How long ago the oldest event was routed that is not archived, on the partitions of this process, by destination; 0 when there is none. Up to the maxAge of the archive it is no fault.", []string{"destination"}, nil),
		},
		destinations: destinations, tallies: make(map[string]*tally),
	}
	for _, result := range []string{"ok", "failed"} {
		m.commits.WithLabelValues(result)
	}
	reg.MustRegister(m.events, m.objects, m.bytes, m.failures, m.commits, m)
	return m
}

// follow creates the series of every archive, so that a rate sees the first event too.
func (m *metrics) follow(ws *workspace.Snapshot) {
	for _, d := range ws.DestinationsOf(workspace.TypeArchive) {
		m.of(d.ID)
	}
}

// of returns the counters of a destination.
func (m *metrics) of(destination string) *tally {
	label := m.destinations.Label(destination)
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tallies[label]
	if t == nil {
		t = &tally{m.events.WithLabelValues(label), m.objects.WithLabelValues(label), m.bytes.WithLabelValues(label), m.failures.WithLabelValues(label)}
		m.tallies[label] = t
	}
	return t
}

func (t *tally) stored(o *object.Object) {
	t.events.Add(float64(o.Lines))
	t.objects.Inc()
	t.bytes.Add(float64(len(o.Body)))
}

// watch shows what a session knows of what waits; nil: there is none.
func (m *metrics) watch(backlog func() map[string]lag.Total) {
	if backlog == nil {
		backlog = func() map[string]lag.Total { return nil }
	}
	m.backlog.Store(&backlog)
}

// Describe and Collect show what waits.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) { m.gauges.Describe(ch) }

// Collect is that of a [prometheus.Collector].
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	backlog := m.backlog.Load()
	if backlog == nil {
		return
	}
	byLabel := make(map[string]lag.Total)
	for destination, total := range (*backlog)() {
		label := m.destinations.Label(destination)
		sum := byLabel[label]
		sum.Add(total)
		byLabel[label] = sum
	}
	for label, total := range byLabel {
		m.gauges.Collect(ch, total, time.Now(), label)
	}
}

// backlog is what is not archived of the session's partitions, by destination.
func (s *session) backlog() map[string]lag.Total {
	all := make(map[string]lag.Total)
	for _, p := range s.all() {
		sum := all[p.destination]
		sum.Add(p.total())
		all[p.destination] = sum
	}
	return all
}

func (p *part) total() lag.Total {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := lag.Total{Records: max(p.way.Next(), p.stable) - p.way.Mark().From}
	if t.Records > 0 {
		if t.Oldest = p.way.Oldest(); t.Oldest.IsZero() {
			t.Oldest = p.noticed
		}
	}
	return t
}
