package account

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
	"github.com/anabranch/anabranch/webhook-sink/internal/seldom"
)

// Account counts and logs how records end. It may be used by many goroutines.
type Account struct {
	*series

	log    *slog.Logger
	seldom seldom.Log // of dead letters
	known  sync.Map   // ids that the workspace has named since the start
}

// New returns an account whose series are registered.
func New(reg prometheus.Registerer, log *slog.Logger) *Account {
	return &Account{series: newSeries(reg), log: log}
}

// Ended counts and logs how a job ended.
func (a *Account) Ended(j *dispatch.Job, f schedule.Fate) {
	switch f.Ending {
	case schedule.Delivered:
		a.count(f, resultDelivered)
		if !j.IsRetry() {
			a.latency.Observe(time.Since(j.Record.Timestamp).Seconds())
		}
	case schedule.Retried:
		a.count(f, resultRetried)
	case schedule.Hopped:
		a.hops.Inc()
	case schedule.Dead:
		a.count(f, resultDead)
		a.deadLetters.WithLabelValues(string(f.Headers.Reason)).Inc()
		a.logDead(j, f)
	case schedule.Withheld, schedule.Unfinished: // the attempter counts what it leaves out
	}
}

func (a *Account) count(f schedule.Fate, result string) {
	a.deliveries.WithLabelValues(a.label(f.Headers.Destination), result).Inc()
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
	a.log.Log(context.Background(), level, "event given up, it is in dead-letters",
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
	a.attempts.WithLabelValues(a.label(destination), outcome).Inc()
}

// LeftOut implements attempt.Observer.
func (a *Account) LeftOut(destination string) {
	a.leftOut.WithLabelValues(a.label(destination)).Inc()
}

// Down implements attempt.Observer.
func (a *Account) Down(destination string, more int) {
	a.down.WithLabelValues(a.label(destination)).Add(float64(more))
}

// Gauges are those that the dispatcher keeps.
func (a *Account) Gauges() dispatch.Gauges {
	return dispatch.Gauges{InFlight: a.inFlight, Queued: a.queued, Due: a.due, Lateness: a.lateness}
}
