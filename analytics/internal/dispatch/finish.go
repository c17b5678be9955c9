package dispatch

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/batch"
	"github.com/anabranch/anabranch/analytics/internal/schedule"
)

// finish ends a batch whose messages have their outcomes; note is called with d.mu
// held. Its room is free before its messages are reported, so that whoever is told may
// queue another; its users are only free afterwards, so that they are told in order.
func (d *Dispatcher) finish(b *batch.Batch, outcome func(i int) error, note func()) {
	d.mu.Lock()
	underWay, open := d.out[b]
	if !open { // Close has claimed it
		d.mu.Unlock()
		return
	}
	delete(d.out, b)
	note()
	for i := range b.Messages {
		switch err := outcome(i); {
		case err == nil:
			d.stats.Sent++
		case errors.Is(err, ErrExpired):
			d.stats.Expired++
		default:
			d.stats.Rejected++
		}
	}
	d.release(b.Messages)
	d.mu.Unlock()
	for i, m := range b.Messages {
		d.cfg.Report(m, outcome(i))
	}
	d.mu.Lock()
	d.queue.Done(b.Messages)
	if underWay {
		d.landed()
	}
	d.settle(nil, b.Messages...)
	d.mu.Unlock()
	d.signal()
}

// overdue takes out the messages whose time is over, in batches; d.mu is held.
// What is under way is left to its attempt.
func (d *Dispatcher) overdue(now time.Time) []*batch.Batch {
	if d.cfg.MaxAge == 0 {
		return nil
	}
	moment := now.Add(-d.cfg.MaxAge)
	var ended []*batch.Batch
	d.parked = slices.DeleteFunc(d.parked, func(b *batch.Batch) bool {
		if !b.Messages[0].At.Before(moment) {
			return false
		}
		if young := b.Outlive(moment); len(young) > 0 {
			d.putBack(young, b.Messages)
		}
		ended = append(ended, b)
		return true
	})
	if messages := d.queue.TakeBefore(moment); len(messages) > 0 {
		b := batch.New(messages)
		d.out[b] = false
		ended = append(ended, b)
	}
	return ended
}

// untilOverdue is when the next message that waits is given up; d.mu is held.
func (d *Dispatcher) untilOverdue(now time.Time) time.Duration {
	wait := schedule.Ever
	if d.cfg.MaxAge == 0 {
		return wait
	}
	if m := d.queue.Oldest(); m != nil {
		wait = min(wait, m.At.Add(d.cfg.MaxAge).Sub(now))
	}
	for _, b := range d.parked {
		wait = min(wait, b.Messages[0].At.Add(d.cfg.MaxAge).Sub(now))
	}
	return max(wait, 0) + 1 // a message is overdue when its time is over
}

// giveUp ends a batch whose time is over.
func (d *Dispatcher) giveUp(b *batch.Batch) {
	d.mu.Lock()
	err := d.because(ErrExpired)
	d.mu.Unlock()
	d.cfg.Log.Error("messages given up", "error", err, "messages", len(b.Messages))
	d.finish(b, func(int) error { return err }, func() {})
}

// because adds the error of the last attempt to a reason; d.mu is held.
func (d *Dispatcher) because(err error) error {
	if d.lastErr != nil {
		return fmt.Errorf("%w: last attempt: %w", err, d.lastErr)
	}
	return err
}
