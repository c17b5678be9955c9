// Package work takes one record from its attempt to its end: what it decides is
// the schedule's, what it does goes through the functions it is given. What there is to
// write goes through a Producer.
//
// # Non-obvious
//
//   - Brokers look at the size of a batch, and refuse all of its records with it. Which of
//     them is too large is known only of one that was refused alone: on topics with a small
//     limit hundreds of events would become dead letters that would have passed by
//     themselves (TestWhatIsTooLargeIsFoundAlone).
//   - Brokers have two codes for it, MESSAGE_TOO_LARGE and RECORD_LIST_TOO_LARGE. Either ends a
//     retry as a dead letter, and that as a reference; to know one of them alone would be to
//     write the other for ever (TestWhatIsTooLargeEnds, TestARecordTooLargeToRetryIsADeadLetter
//     in the sink's package).
package work

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// Options are what a Worker is made of.
type Options struct {
	Schedule  *schedule.Schedule
	Workspace func() *workspace.Snapshot
	// Hold returns when a job may be worked on, or false if it is not to be after all:
	// its partition is not ours any more. Nil: always.
	Hold func(context.Context, *dispatch.Job) bool
	// Attempt makes one attempt at one destination; see attempt.Attempter.
	Attempt func(ctx context.Context, dest *workspace.Destination, only []uint64, event []byte, last bool) outcome.Outcome
	// Write writes a record and returns when the brokers have acknowledged it.
	Write func(context.Context, *kgo.Record) error
	// Done hands a job back and returns the next one, nil when there is none.
	Done func(*dispatch.Job, outcome.Outcome) *dispatch.Job
	// Account is told how each job ended.
	Account func(*dispatch.Job, schedule.Fate)
	// Journal is told, too, before the job is handed back. Nil: none is written.
	Journal func(*kgo.Record, schedule.Fate, outcome.Outcome)
	// WriteFailed is told of each failed write; it is tried again.
	WriteFailed func()
	Logger      *slog.Logger
	Trace       *trace.Tracer // nil: tracing is off
}

// Worker works on jobs. It may be used by many goroutines.
type Worker struct {
	Options

	writeFailures logging.Sampler[logging.Kind]
}

// New returns a Worker.
func New(o Options) *Worker { return &Worker{Options: o} }

// Work works on one job after the other, as many as the dispatcher hands it, and
// ends when there is none: a sink at rest has no workers.
//
// Jobs end as unfinished only when ctx, which outlives the stop of the sink by the
// time that an attempt may take, was done.
func (w *Worker) Work(ctx context.Context, j *dispatch.Job) {
	for j != nil {
		o := w.handle(ctx, j)
		next := w.Done(j, o)
		if o.Verdict == outcome.Delivered { // of others a record was written, which may hold theirs
			j.PutAway()
		}
		j = next
	}
}

// handle takes one job to its end, and returns what came of its attempt. First attempt
// and retry are the same.
func (w *Worker) handle(ctx context.Context, j *dispatch.Job) outcome.Outcome {
	cut := outcome.Outcome{Verdict: outcome.Abandoned}
	if w.Hold != nil && !w.Hold(ctx, j) {
		return cut
	}
	if !j.IsRetry() {
		j.Read()
	}
	var o outcome.Outcome
	began := time.Now()
	dest, f := w.Schedule.Judge(j.Case(), w.Workspace(), began)
	if dest != nil {
		h := &j.Headers
		span := w.Trace.Process(j.Record.Topic, h)
		o = w.Attempt(span.In(ctx), dest, h.Endpoints, j.Record.Value, w.Schedule.Last(h, began))
		now := time.Now()
		o.Took = now.Sub(began)
		if j.IsReplay() && o.Verdict == outcome.Withheld {
			return o // it waits where it is until an endpoint is back
		}
		f = w.Schedule.After(*h, o, began, now)
		describe(span, f, o)
	}
	f, settled := w.settle(ctx, j, f)
	if !settled {
		return cut
	}
	w.Account(j, f)
	if w.Journal != nil {
		w.Journal(j.Record, f, o)
	}
	return o
}
