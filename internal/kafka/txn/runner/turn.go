package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/waiting"
)

// abortPause bounds how often a transaction that keeps failing is tried again.
const abortPause = 50 * time.Millisecond

// turn polls once, until ctx ends, and processes what came, which work bounds. An
// error means that the session is of no more use.
func (r *Runner) turn(ctx, work context.Context, s *kgo.GroupTransactSession) error {
	if err := r.settle(ctx); err != nil {
		return err
	}
	// The first record alone, since the stage may have to prepare for it before the
	// budget of the transaction is known; what waits fetched behind it comes at once.
	polling, done := r.untilCut(ctx)
	defer done()
	fetches := s.PollRecords(polling, 1)
	if err := r.fetchError(polling, fetches); err != nil {
		return err
	}
	if fetches.NumRecords() == 0 {
		return nil
	}
	fetches, err := r.gather(ctx, s, fetches)
	if err != nil {
		return err
	}
	// No transaction is open yet, so nobody but the records waits for the stage. After an
	// error nothing of them has happened, and they come again.
	if err = r.prepare(ctx, fetches, math.MaxInt64); err != nil {
		return err
	}
	if err = r.settle(ctx); err != nil { // a connection may have been lost meanwhile
		return err
	}
	committed, err := r.transact(work, s, fetches)
	if err != nil {
		return err
	}
	if !committed {
		// A rebalance needs no pause, a write that failed does; they are told apart
		// by the log alone, and a short pause harms neither.
		waiting.Sleep(ctx, abortPause)
	}
	return nil
}

// prepare has the stage prepare for records. It fails with the cause when ctx has ended.
func (r *Runner) prepare(ctx context.Context, fetches kgo.Fetches, patience time.Duration) error {
	fanOut, err := r.stage.Prepare(ctx, fetches, patience)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		r.fanOut = fanOut
	}
	return err
}

// gather has the records in hand wait for company, and returns them with what has come
// meanwhile. It polls all the time: what the client holds fetched keeps it from
// fetching more. An error means that the session is of no more use.
func (r *Runner) gather(ctx context.Context, s *kgo.GroupTransactSession, fetches kgo.Fetches) (kgo.Fetches, error) {
	wait := r.gathering.Wait(time.Now())
	if wait == 0 {
		return fetches, nil
	}
	ctx, done := context.WithTimeout(ctx, wait)
	defer done()
	for ctx.Err() == nil {
		room := r.full.Halved(r.halvings).Next(r.fanOut) - fetches.NumRecords()
		if room <= 0 {
			break
		}
		more := s.PollRecords(ctx, room)
		if err := r.fetchError(ctx, more); err != nil {
			return nil, err
		}
		fetches = append(fetches, more...)
	}
	return fetches, nil
}

// fetchError passes on what ends the session. The client mends everything else
// by itself and goes on. A topic that was deleted and made anew has another id
// under its old name, which only a new client takes up.
func (r *Runner) fetchError(ctx context.Context, fetches kgo.Fetches) error {
	var fatal error
	fetches.EachError(func(topic string, partition int32, err error) {
		cut, lossy := errors.AsType[*kgo.ErrDataLoss](err)
		switch {
		case ctx.Err() != nil:
		case lossy:
			r.log.Error("log lost its tail: events there that were not processed are gone, processing continues at its new end",
				"topic", topic, "partition", partition, "processed_up_to", cut.ConsumedTo, "begin", cut.ResetTo)
			r.set.Losses.Count(topic, groups.Truncated, cut.ConsumedTo-cut.ResetTo)
		case errors.Is(err, kgo.ErrClientClosed), errors.Is(err, kerr.UnknownTopicID), kafka.Fenced(err):
			fatal = err
		case errors.Is(err, kerr.OffsetOutOfRange):
			// Where to go on then is decided in one place, as partitions are assigned.
			fatal = fmt.Errorf("fetch %s[%d]: %w", topic, partition, err)
		default:
			r.log.Warn("fetch failed, retrying", "topic", topic, "partition", partition, "error", err)
		}
	})
	return fatal
}
