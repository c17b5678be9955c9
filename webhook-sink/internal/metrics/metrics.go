package metrics

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// Metrics counts and logs how records end. It may be used by many goroutines.
type Metrics struct {
	*series
	gathered

	log    *slog.Logger
	seldom logging.Sampler[logging.Kind] // of dead letters
	views  atomic.Pointer[Views]

	destinations *telemetry.Destinations
	known        sync.Map // *tally by id, of destinations that the workspace has named since the start
	removed      *tally
	following    sync.Mutex
	tallies      map[string]*tally // by label
	paused       map[string]int    // destinations, by label
}

// New returns metrics whose series are registered. Destinations says which of
// them have series of their own.
func New(reg prometheus.Registerer, destinations *telemetry.Destinations, log *slog.Logger) *Metrics {
	m := &Metrics{
		series: newSeries(reg), gathered: newGathered(), log: log,
		destinations: destinations, tallies: make(map[string]*tally),
	}
	m.removed = m.newTally(removed)
	reg.MustRegister(m)
	return m
}

// Ended counts and logs how a job ended.
func (m *Metrics) Ended(j *dispatch.Job, f schedule.Fate) {
	switch f.Ending {
	case schedule.Delivered:
		to := m.of(f.Headers.Destination)
		to.delivered.Inc()
		if f.Headers.Run != "" { // how long ago the call was taken is the replay's choice
			m.replayed.WithLabelValues(to.label).Inc()
			return
		}
		m.delivered(j, time.Now())
	case schedule.Retried:
		m.of(f.Headers.Destination).retried.Inc()
	case schedule.Hopped:
		m.hops.Inc()
	case schedule.Dead:
		m.of(f.Headers.Destination).dead.Inc()
		m.gaveUp(f.Headers.Reason).Inc()
		m.logDead(j, f)
	case schedule.Withheld, schedule.Unfinished: // the attempter counts what it leaves out
	}
}

// gaveUp returns the counter of a reason. One that this release does not know comes
// from the header of a record that a later one wrote: no label may be made of it.
func (m *Metrics) gaveUp(reason schemas.Reason) prometheus.Counter {
	if counter, known := m.byReason[reason]; known {
		return counter
	}
	return m.byReason[schemas.ReasonVersionUnknown]
}

// delivered notes how long ago the call was taken. Records of a release before the
// header don't say; then it is when the record was written.
func (m *Metrics) delivered(j *dispatch.Job, now time.Time) {
	since, latency := j.Headers.Received, m.firsts
	if since.IsZero() {
		since = j.Record.Timestamp
	}
	if j.IsRetry() {
		latency = m.retries
	}
	latency.Observe(max(now.Sub(since).Seconds(), 0)) // the clock of ingest may be ahead
}

// logDead logs dead letters, the first of a kind at once and then at most one in
// logging.Every: each of them is in the topic, and counted. At debug level all are
// logged.
func (m *Metrics) logDead(j *dispatch.Job, f schedule.Fate) {
	level := slog.LevelWarn
	passed, ok := m.seldom.Admit(logging.Kind{Destination: f.Headers.Destination, Reason: f.Headers.Reason}, time.Now())
	if !ok {
		level = slog.LevelDebug
	}
	trace.LoggerOf(m.log, f.Headers.TraceParent).Log(context.Background(), level, "event given up, it is in dead-letters",
		"destination", f.Headers.Destination,
		"reason", string(f.Headers.Reason),
		"detail", f.Headers.Detail,
		"message_id", f.Headers.MessageID,
		"attempts", f.Headers.Attempt,
		"topic", j.Record.Topic,
		"partition", j.Record.Partition,
		"offset", j.Record.Offset,
		"passed_over", passed)
}

// WriteFailed counts a write of a retry record or a dead letter that failed.
func (m *Metrics) WriteFailed() { m.writeErrors.Inc() }

// JournalFailed counts a failed try to write the journal.
func (m *Metrics) JournalFailed() { m.journalErrors.Inc() }

// JournalLost counts an end that the journal will not tell of.
func (m *Metrics) JournalLost() { m.journalLost.Inc() }

// AsideLost counts that retention deleted events of keys that are set aside.
func (m *Metrics) AsideLost() { m.asideLost.Inc() }

// Committed counts a commit of offsets, one that err made fail or one that was done.
func (m *Metrics) Committed(err error) {
	result := commitDone
	if err != nil {
		result = commitFailed
	}
	m.commits.WithLabelValues(result).Inc()
}

// Posted implements attempt.Observer.
func (m *Metrics) Posted(destination, outcome string) {
	t := m.of(destination)
	if counter, ok := t.posted[outcome]; ok {
		counter.Inc()
		return
	}
	m.attempts.WithLabelValues(t.label, outcome).Inc()
}

// LeftOut implements attempt.Observer.
func (m *Metrics) LeftOut(destination string) {
	m.of(destination).leftOut.Inc()
}

// Down implements attempt.Observer.
func (m *Metrics) Down(destination string, more int) {
	m.of(destination).down.Add(float64(more))
}

// Gauges are those that the dispatcher keeps.
func (m *Metrics) Gauges() dispatch.Gauges {
	return dispatch.Gauges{Gauges: queues.Gauges{InFlight: m.inFlight, Queued: m.queued, Due: m.due}, Lateness: m.lateness}
}
