package work

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/telemetry/seldom"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// settle writes what a fate calls for and returns when the broker has
// acknowledged it (acks=all), with the fate that it came to in the end. A write
// that fails is tried again for as long as it takes: the job keeps its slot and
// its place in memory, so what can't be written holds back what would come after
// it, and never gets lost. It returns false when ctx was done first; the record
// may then have been written all the same, and is met twice.
func (w *Worker) settle(ctx context.Context, j *dispatch.Job, f schedule.Fate) (schedule.Fate, bool) {
	if f.Ending == schedule.Unfinished {
		return f, false
	}
	record := f.Record(j.Record, time.Now())
	for pause := firstPause; record != nil; pause = min(2*pause, lastPause) {
		err := w.Write(ctx, record)
		switch {
		case err == nil:
			return f, true
		case ctx.Err() != nil:
			return f, false
		case kafka.TooLarge(err) && !f.Headers.Reference:
			f = f.TooLarge()
			record = f.Record(j.Record, time.Now())
			continue
		}
		w.WriteFailed()
		w.writeFailed(record, &f, err)
		if !Rest(ctx, pause) {
			return f, false
		}
	}
	return f, true
}

// writeFailed logs a failed write, at most one in [seldom.Every]: while no broker
// answers every worker has one, again and again.
func (w *Worker) writeFailed(record *kgo.Record, f *schedule.Fate, err error) {
	passed, ok := w.writeFailures.Admit(seldom.Kind{}, time.Now())
	if !ok {
		return
	}
	trace.LoggerOf(w.Logger, f.Headers.TraceParent).Error("write failed, retrying until it succeeds", "topic", record.Topic, "destination", f.Headers.Destination,
		"message_id", f.Headers.MessageID, "passed_over", passed, "error", err)
}

// Rest waits for d and reports whether it passed before ctx was done.
func Rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
