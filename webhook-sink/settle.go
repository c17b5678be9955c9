package webhooksink

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
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
func (s *session) settle(ctx context.Context, j *job, f fate) (fate, bool) {
	if f.ending == endUnfinished {
		return f, false
	}
	record := f.record(j, time.Now())
	for pause := firstPause; record != nil; pause = min(2*pause, lastPause) {
		err := s.write(ctx, record)
		switch {
		case err == nil:
			return f, true
		case ctx.Err() != nil:
			return f, false
		case tooLarge(err) && !f.headers.Reference:
			f = f.tooLarge()
			record = f.record(j, time.Now())
			continue
		case errors.Is(err, kerr.UnknownTopicID):
			// Deleted and made anew: the client holds on to the old id until it is told
			// to forget the topic.
			s.client.PurgeTopicsFromProducing(record.Topic)
		}
		s.metrics.writeErrors.Inc()
		s.log.Error("write failed, trying again", "topic", record.Topic, "destination", f.headers.Destination,
			"message_id", f.headers.MessageID, "pause", pause, "error", err)
		if !rest(ctx, pause) {
			return f, false
		}
	}
	return f, true
}

// write produces one record and waits for its acknowledgement.
//
// It waits beside the library, which does not let go of a record that may be in
// flight when the context ends: it would have to forget the sequence number.
func (s *session) write(ctx context.Context, r *kgo.Record) error {
	acknowledged := make(chan error, 1)
	once := *r // the library writes into what it is given, and may still do so when we try again
	s.client.Produce(ctx, &once, func(_ *kgo.Record, err error) { acknowledged <- err })
	select {
	case err := <-acknowledged:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func tooLarge(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.RecordListTooLarge)
}

// rest waits for d and reports whether it passed before ctx was done.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
