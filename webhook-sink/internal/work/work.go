// Package work takes one record from its attempt to its end: what it decides is
// the schedule's, what it does goes through the functions it is given.
package work

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/telemetry/seldom"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/webhook-sink/internal/attempt"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// Worker works on jobs. It may be used by many goroutines.
type Worker struct {
	Schedule  *schedule.Schedule
	Workspace func() *workspace.Snapshot
	// Hold returns when a job may be worked on, or false if it is not to be after all:
	// its partition is not ours any more. Nil: always.
	Hold func(context.Context, *dispatch.Job) bool
	// Attempt is one attempt at one destination; see attempt.Attempter.
	Attempt attempt.Func
	// Write writes a record and returns when the brokers have acknowledged it.
	Write func(context.Context, *kgo.Record) error
	// Done hands a job back and returns the next one, nil when there is none.
	Done func(*dispatch.Job, dispatch.Ended) *dispatch.Job
	// Account is told how each job ended.
	Account func(*dispatch.Job, schedule.Fate)
	// WriteFailed is told of each failed write; it is tried again.
	WriteFailed func()
	Logger      *slog.Logger
	Trace       *trace.Tracer // nil: tracing is off

	writeFailures seldom.Log
}

// Work works on one job after the other, as many as the dispatcher hands it, and
// ends when there is none: a sink at rest has no workers.
//
// Jobs end as unfinished only when ctx, which outlives the stop of the sink by the
// time that an attempt may take, was done.
func (w *Worker) Work(ctx context.Context, j *dispatch.Job) {
	for j != nil {
		j = w.Done(j, w.handle(ctx, j))
	}
}

// handle takes one job to its end. First attempt and retry are the same.
func (w *Worker) handle(ctx context.Context, j *dispatch.Job) dispatch.Ended {
	if w.Hold != nil && !w.Hold(ctx, j) {
		return dispatch.Ended{}
	}
	if !j.IsRetry() {
		j.Read()
	}
	var ended dispatch.Ended
	began := time.Now()
	dest, f := w.Schedule.Judge(j.Case(), w.Workspace(), began)
	if dest != nil {
		h := &j.Headers
		span := w.Trace.Process(j.Record.Topic, h)
		o := w.Attempt(span.In(ctx), dest, h.Endpoints, j.Record.Value, w.Schedule.Last(h, began))
		now := time.Now()
		f = w.Schedule.After(*h, o, began, now)
		describe(span, f, o)
		ended.Delivered, ended.Took = o.Verdict == attempt.Delivered, now.Sub(began)
		ended.Withheld = o.Verdict == attempt.Withheld && concernsAll(dest, h.Endpoints)
	}
	if f, ended.Finished = w.settle(ctx, j, f); ended.Finished {
		w.Account(j, f)
	}
	return ended
}

// concernsAll reports whether an attempt was to go to every endpoint. One that was
// for some of them says nothing about the destination, at which others may be well.
func concernsAll(dest *workspace.Destination, only []uint64) bool {
	return len(only) == 0 || len(only) >= len(dest.Endpoints)
}
