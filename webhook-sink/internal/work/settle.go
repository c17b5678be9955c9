package work

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
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
	for pause := waiting.First; record != nil; pause = waiting.Next(pause) {
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
		if !waiting.Sleep(ctx, pause) {
			return f, false
		}
	}
	return f, true
}

// writeFailed logs a failed write, at most one in [logging.Every]: while no broker
// answers every worker has one, again and again.
func (w *Worker) writeFailed(record *kgo.Record, f *schedule.Fate, err error) {
	passed, ok := w.writeFailures.Admit(logging.Kind{}, time.Now())
	if !ok {
		return
	}
	trace.LoggerOf(w.Logger, f.Headers.TraceParent).Error("write failed, retrying until it succeeds", "topic", record.Topic, "destination", f.Headers.Destination,
		"message_id", f.Headers.MessageID, "passed_over", passed, "error", err)
}
