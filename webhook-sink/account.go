package webhooksink

import (
	"context"
	"log/slog"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
	"github.com/anabranch/anabranch/webhook-sink/internal/seldom"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
)

// newWorker returns the worker of a session, which wants only its Done.
func (s *session) newWorker() *work.Worker {
	return &work.Worker{
		Schedule:    s.schedule,
		Workspace:   s.set.Workspace.Load,
		Attempt:     s.attempt,
		Write:       s.write,
		Account:     s.account,
		WriteFailed: s.metrics.writeErrors.Inc,
		Logger:      s.log,
	}
}

// account counts and logs how a job ended.
func (s *session) account(j *dispatch.Job, f schedule.Fate) {
	switch f.Ending {
	case schedule.Delivered:
		s.metrics.delivered(j, f, time.Since(j.Record.Timestamp))
	case schedule.Retried:
		s.metrics.retried(f)
	case schedule.Hopped:
		s.metrics.hops.Inc()
	case schedule.Dead:
		s.metrics.died(f)
		s.logDead(j, f)
	case schedule.Withheld, schedule.Unfinished: // the attempter counts what it leaves out
	}
}

// logDead logs dead letters, the first of a kind at once and then at most one in
// seldom.Every: each of them is in the topic, and counted. At debug level all are
// logged.
func (s *session) logDead(j *dispatch.Job, f schedule.Fate) {
	level := slog.LevelWarn
	passed, ok := s.seldom.Admit(seldom.Kind{Destination: f.Headers.Destination, Reason: f.Headers.Reason}, time.Now())
	if !ok {
		level = slog.LevelDebug
	}
	s.log.Log(context.Background(), level, "event given up, it is in dead-letters",
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
