package dispatch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/batch"
	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/retry"
	"github.com/anabranch/anabranch/analytics/internal/upload"
)

// deliver makes one attempt to send a batch.
func (d *Dispatcher) deliver(ctx context.Context, b *batch.Batch) {
	answer := d.cfg.Post(ctx, b.ID, b.Messages)
	d.mu.Lock()
	if !d.out[b] { // Close has not waited for it
		d.mu.Unlock()
		return
	}
	if b.Again {
		d.retrying--
	}
	switch {
	case answer.Verdict != upload.Again && (!batch.TooMuch(answer) || len(b.Messages) == 1):
		d.mu.Unlock()
		d.decide(b, answer)
	case ctx.Err() != nil: // what it says of itself is no reason; Close has the rest
		d.out[b] = false
		d.landed()
		d.mu.Unlock()
	default:
		d.failed(b, answer)
	}
}

// failed notes an attempt that has to be repeated, and parks the batch until then:
// one that always fails keeps nobody from sending but its own users. It is called with
// d.mu held and lets go of it.
func (d *Dispatcher) failed(b *batch.Batch, answer upload.Answer) {
	now := time.Now()
	dice := rand.Float64() //nolint:gosec // spreads clients over time; nobody gains by guessing it
	b.Failures++
	b.Asked = answer.After > 0
	if answer.TimedOut {
		b.Timeouts++
	}
	d.stats.Requests++
	d.stats.Retries++
	d.lastErr = answer.Err
	// Others have got through since: it is not the server that is down.
	others := d.decided > b.Decided
	attempt, messages := b.Failures, len(b.Messages)
	if b.Divide(answer, others || d.isOldest(b)) {
		d.divide(b, answer)
	}
	pause := retry.Obey(answer.After, retry.Delay(max(b.Failures, 1), dice), dice)
	switch {
	case batch.TooMuch(answer):
		pause = 0
	case d.closed && !b.Hurried && !b.Asked:
		pause = 0
		b.Hurry(now)
	case !others || attempt == 1:
		d.schedule.Fail(now, dice)
	}
	d.schedule.Ask(now, answer.After)
	d.landed()
	d.park(b, now.Add(pause))
	parts := messages - len(b.Messages)
	d.mu.Unlock()
	d.signal()
	d.cfg.Log.Warn("batch not accepted, retrying", "error", answer.Err, "messages", messages, "set_aside", parts, "attempt", attempt, "pause", pause)
}

// landed notes that a request is not under way any more; d.mu is held.
func (d *Dispatcher) landed() {
	if d.inFlight--; d.inFlight == 0 {
		d.takeIn()
		d.busyUpTo = d.queue.Last()
	}
}

// divide puts half of a batch back into the queue; d.mu is held. What fails for its
// size stays small by the allowance; what may hold a message that the server fails
// over is taken out in no larger parts than this one, so that it takes a dozen
// attempts to find that message among 2,500.
func (d *Dispatcher) divide(b *batch.Batch, answer upload.Answer) {
	size := queue.Size(b.Messages)
	rest := b.Halve()
	if batch.TooMuch(answer) || answer.TimedOut {
		d.size.Shrink(size)
	} else {
		b.Suspect = true
		for _, m := range rest {
			m.Together = len(rest)
		}
	}
	d.putBack(rest, b.Messages)
}

// putBack returns messages to the queue, from where they leave as soon as they may;
// d.mu is held.
func (d *Dispatcher) putBack(messages, rest []*queue.Message) {
	d.queue.Return(messages, rest)
	d.schedule.DueUpTo = max(d.schedule.DueUpTo, messages[len(messages)-1].Seq)
}

// isOldest reports whether a batch has the oldest message of all that are not decided
// on; d.mu is held. In an outage it alone is divided: nobody can tell whose fault
// that is, and many small requests would cost more afterwards than one message
// that waits.
func (d *Dispatcher) isOldest(b *batch.Batch) bool {
	for other := range d.out {
		if other.Messages[0].Seq < b.Messages[0].Seq {
			return false
		}
	}
	return true
}

// park has a batch wait for its next attempt; d.mu is held.
func (d *Dispatcher) park(b *batch.Batch, due time.Time) {
	d.out[b] = false
	b.Due = due
	at, _ := slices.BinarySearchFunc(d.parked, due, func(other *batch.Batch, due time.Time) int { return other.Due.Compare(due) })
	d.parked = slices.Insert(d.parked, at, b)
}

// decide ends a batch that the server has taken or refused.
func (d *Dispatcher) decide(b *batch.Batch, answer upload.Answer) {
	d.log(b.Messages, answer)
	d.finish(b, func(i int) error {
		if r := answer.Rejected[i]; r != nil {
			return r
		}
		return answer.Err
	}, func() {
		d.stats.Requests++
		d.decided++
		d.schedule.Succeed()
		if answer.Verdict == upload.Taken {
			d.size.Grow(queue.Size(b.Messages))
		}
	})
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
