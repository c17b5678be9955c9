package dispatch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/retry"
	"github.com/anabranch/anabranch/analytics/internal/upload"
)

// deliver attempts a batch until the server has decided or ctx ends.
func (d *Dispatcher) deliver(ctx context.Context, batch []*queue.Message) {
	id := upload.NewID()
	hurried := false
	for failures := 1; ; failures++ {
		answer := d.cfg.Post(ctx, id, batch)
		if answer.Verdict != upload.Again {
			d.decided(batch, answer)
			return
		}
		if ctx.Err() != nil {
			d.abandon(batch)
			return
		}
		pause := d.failed(batch, answer, failures)
		var hurry <-chan struct{}
		if !hurried && answer.After == 0 {
			hurry = d.closing
		}
		switch rest(ctx, pause, hurry) {
		case ended:
			d.abandon(batch)
			return
		case cutShort:
			hurried, failures = true, 0
		default:
		}
	}
}

// waking is why a pause was over.
type waking int

const (
	rested waking = iota
	cutShort
	ended
)

// rest waits for the pause between attempts. Closing cuts it short, once for each
// batch and not where the server has asked for the pause: a client that is being
// closed has better things to do with the time that is left than to wait.
func rest(ctx context.Context, pause time.Duration, hurry <-chan struct{}) waking {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return rested
	case <-hurry:
		return cutShort
	case <-ctx.Done():
		return ended
	}
}

// failed notes an attempt that has to be repeated and returns the pause before
// that. Nothing new leaves for the pause that the failures of all batches in a row
// have earned: a server that is down is not asked by everybody, and one batch that
// it can't take does not hold up the others for long.
func (d *Dispatcher) failed(batch []*queue.Message, answer upload.Answer, failures int) time.Duration {
	dice := rand.Float64() //nolint:gosec // spreads clients over time; nobody gains by guessing it
	pause := retry.Obey(answer.After, retry.Delay(failures, dice), dice)
	d.mu.Lock()
	d.stats.Requests++
	d.stats.Retries++
	d.lastErr = answer.Err
	d.schedule.fail(time.Now(), answer.After, dice)
	d.mu.Unlock()
	d.cfg.Log.Warn("batch not taken, retrying", "error", answer.Err, "messages", len(batch), "attempt", failures, "pause", pause)
	return pause
}

// decided ends a batch that the server has taken or refused. Its room is free
// before its messages are reported, so that whoever is told may queue another;
// its users are only free afterwards, so that they are told in order.
func (d *Dispatcher) decided(batch []*queue.Message, answer upload.Answer) {
	outcome := func(i int) error {
		if r := answer.Rejected[i]; r != nil {
			return r
		}
		return answer.Err
	}
	d.mu.Lock()
	if !d.claim(batch) {
		d.mu.Unlock()
		return
	}
	d.stats.Requests++
	for i := range batch {
		if outcome(i) == nil {
			d.stats.Sent++
		} else {
			d.stats.Rejected++
		}
	}
	d.schedule.succeed()
	d.release(batch)
	d.mu.Unlock()
	d.log(batch, answer)
	for i, m := range batch {
		d.cfg.Report(m, outcome(i))
	}
	d.mu.Lock()
	d.queue.Done(batch)
	d.inFlight--
	d.settle(nil, batch...)
	d.mu.Unlock()
	d.signal()
}

func (d *Dispatcher) log(batch []*queue.Message, answer upload.Answer) {
	switch {
	case answer.Verdict == upload.Refused:
		d.cfg.Log.Error("batch refused", "error", answer.Err, "messages", len(batch))
	case len(answer.Rejected) > 0:
		for i, r := range answer.Rejected {
			if i >= 0 && i < len(batch) {
				d.cfg.Log.Error("message refused", "error", fmt.Errorf("%s %s: %w", batch[i].Type, batch[i].ID, r))
			}
		}
	default:
		d.cfg.Log.Debug("batch sent", "messages", len(batch))
	}
}

// claim reports whether the outcome of a batch is still open, and has it be the
// caller's to say; d.mu is held. Close claims what does not come back in time.
func (d *Dispatcher) claim(batch []*queue.Message) bool {
	_, open := d.out[batch[0]]
	delete(d.out, batch[0])
	return open
}

// abandon leaves a batch to Close.
func (d *Dispatcher) abandon(batch []*queue.Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.claim(batch) {
		d.queue.Done(batch)
		d.inFlight--
		d.unsent = append(d.unsent, batch...)
	}
}
