package account

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/telemetry/seldom"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// Account counts and logs how records end. It may be used by many goroutines.
type Account struct {
	*series
	gathered

	log    *slog.Logger
	seldom seldom.Log // of dead letters
	views  atomic.Pointer[Views]

	destinations *telemetry.Destinations
	known        sync.Map // *tally by id, of destinations that the workspace has named since the start
	removed      *tally
	following    sync.Mutex
	tallies      map[string]*tally // by label
}

// New returns an account whose series are registered. Destinations says which of
// them have series of their own.
func New(reg prometheus.Registerer, destinations *telemetry.Destinations, log *slog.Logger) *Account {
	a := &Account{
		series: newSeries(reg), gathered: newGathered(), log: log,
		destinations: destinations, tallies: make(map[string]*tally),
	}
	a.removed = a.newTally(removed)
	reg.MustRegister(a)
	return a
}

// Ended counts and logs how a job ended.
func (a *Account) Ended(j *dispatch.Job, f schedule.Fate) {
	switch f.Ending {
	case schedule.Delivered:
		a.of(f.Headers.Destination).delivered.Inc()
		a.delivered(j, time.Now())
	case schedule.Retried:
		a.of(f.Headers.Destination).retried.Inc()
	case schedule.Hopped:
		a.hops.Inc()
	case schedule.Dead:
		a.of(f.Headers.Destination).dead.Inc()
		a.gaveUp(f.Headers.Reason).Inc()
		a.logDead(j, f)
	case schedule.Withheld, schedule.Unfinished: // the attempter counts what it leaves out
	}
}

// gaveUp returns the counter of a reason. One that this release does not know comes
// from the header of a record that a later one wrote: no label may be made of it.
func (a *Account) gaveUp(reason schemas.Reason) prometheus.Counter {
	if counter, known := a.byReason[reason]; known {
		return counter
	}
	return a.byReason[schemas.ReasonVersionUnknown]
}

// delivered notes how long ago the call was taken. Records of a release before the
// header don't say; then it is when the record was written.
func (a *Account) delivered(j *dispatch.Job, now time.Time) {
	since, latency := j.Headers.Received, a.firsts
	if since.IsZero() {
		since = j.Record.Timestamp
	}
	if j.IsRetry() {
		latency = a.retries
	}
	latency.Observe(max(now.Sub(since).Seconds(), 0)) // the clock of ingest may be ahead
}

// logDead logs dead letters, the first of a kind at once and then at most one in
// seldom.Every: each of them is in the topic, and counted. At debug level all are
// logged.
func (a *Account) logDead(j *dispatch.Job, f schedule.Fate) {
	level := slog.LevelWarn
	passed, ok := a.seldom.Admit(seldom.Kind{Destination: f.Headers.Destination, Reason: f.Headers.Reason}, time.Now())
	if !ok {
		level = slog.LevelDebug
	}
	trace.LoggerOf(a.log, f.Headers.TraceParent).Log(context.Background(), level, "event given up, it is in dead-letters",
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
func (a *Account) WriteFailed() { a.writeErrors.Inc() }

// AsideLost counts that retention deleted events of keys that are set aside.
func (a *Account) AsideLost() { a.asideLost.Inc() }

// Committed counts a commit of offsets, one that err made fail or one that was done.
func (a *Account) Committed(err error) {
	result := commitDone
	if err != nil {
		result = commitFailed
	}
	a.commits.WithLabelValues(result).Inc()
}

// Posted implements attempt.Observer.
func (a *Account) Posted(destination, outcome string) {
	t := a.of(destination)
	if counter, ok := t.posted[outcome]; ok {
		counter.Inc()
		return
	}
	a.attempts.WithLabelValues(t.label, outcome).Inc()
}

// LeftOut implements attempt.Observer.
func (a *Account) LeftOut(destination string) {
	a.of(destination).leftOut.Inc()
}

// Down implements attempt.Observer.
func (a *Account) Down(destination string, more int) {
	a.of(destination).down.Add(float64(more))
}

// Gauges are those that the dispatcher keeps.
func (a *Account) Gauges() dispatch.Gauges {
	return dispatch.Gauges{InFlight: a.inFlight, Queued: a.queued, Due: a.due, Lateness: a.lateness}
}
