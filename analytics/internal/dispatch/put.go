package dispatch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// caller waits for room.
type caller struct {
	message *queue.Message
	answer  chan error // capacity 1
}

// Put lets a message in. The context bounds how long it waits for room under the
// policy Block; the error is ErrClosed or ErrFull, with the context's cause when
// it was that.
func (d *Dispatcher) Put(ctx context.Context, m *queue.Message) error {
	return d.put(ctx, m, d.cfg.Full)
}

// Try is Put that never waits: under the policy Block it is as under Refuse.
func (d *Dispatcher) Try(ctx context.Context, m *queue.Message) error {
	return d.put(ctx, m, max(d.cfg.Full, Refuse))
}

func (d *Dispatcher) put(ctx context.Context, m *queue.Message, full Policy) error {
	if entered, stir := d.door.Enter(m); entered {
		if stir {
			d.signal()
		}
		return nil
	}
	d.lock()
	if d.closed {
		d.mu.Unlock()
		return ErrClosed
	}
	if len(d.blocked) == 0 && d.door.Reserve(m) { // there is room since
		if d.admit(m) {
			d.signal()
		}
		d.mu.Unlock()
		return nil
	}
	// A full queue does not wait for a batch of the usual size, which it may be too
	// small for.
	d.schedule.DueUpTo = d.queue.Last()
	d.signal()
	switch full {
	case DropOldest:
		return d.replace(m)
	case Refuse:
		d.stats.Refused++
		d.mu.Unlock()
		return ErrFull
	default:
		c := &caller{message: m, answer: make(chan error, 1)}
		d.blocked = append(d.blocked, c)
		d.release(nil) // has those who come after wait too
		d.mu.Unlock()
		return d.await(ctx, c)
	}
}

// admit queues a message that has its room, and reports whether that matters to the
// loop: it does not for a message that only joins others; d.mu is held.
func (d *Dispatcher) admit(m *queue.Message) (stir bool) {
	d.held.Messages++
	d.held.Bytes += m.Cost
	d.open++
	d.stats.Accepted++
	d.queue.Put(m)
	first := d.schedule.FlushBy.IsZero()
	if first {
		d.schedule.Arm(time.Now(), d.cfg.FlushAfter)
	}
	return first || d.inFlight < d.cfg.MaxInFlight && d.cfg.trigger().Full(d.queue.Eligible())
}

// release gives back the room of messages, to callers who wait for it in the order
// of their calls; d.mu is held.
func (d *Dispatcher) release(messages []*queue.Message) {
	var freed queue.Load
	for _, m := range messages {
		freed.Messages++
		freed.Bytes += m.Cost
	}
	d.held.Messages -= freed.Messages
	d.held.Bytes -= freed.Bytes
	stir := false
	for _, c := range d.pass(freed) {
		stir = d.admit(c.message) || stir
		c.answer <- nil
	}
	if stir {
		d.signal()
	}
}

// pass takes the callers for whom there is room now off those who wait; d.mu is held.
func (d *Dispatcher) pass(freed queue.Load) []*caller {
	d.door.Release(freed)
	n := 0
	for n < len(d.blocked) && d.door.Reserve(d.blocked[n].message) {
		n++
	}
	passed := slices.Clone(d.blocked[:n])
	d.blocked = slices.Delete(d.blocked, 0, n)
	d.door.Crowd(len(d.blocked) > 0)
	return passed
}

// await waits for room, for the end of ctx or for Close.
func (d *Dispatcher) await(ctx context.Context, c *caller) error {
	select {
	case err := <-c.answer:
		return err
	case <-ctx.Done():
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case err := <-c.answer: // it was answered in the meantime
		return err
	default:
	}
	d.blocked = slices.DeleteFunc(d.blocked, func(other *caller) bool { return other == c })
	d.stats.Refused++
	d.release(nil) // those behind it may be smaller
	return fmt.Errorf("%w: %w", ErrFull, context.Cause(ctx))
}

// replace lets a message in after having dropped as many of the oldest as that
// takes. What is out can't be dropped, so there may be too few. It is called with
// d.mu held and lets go of it.
func (d *Dispatcher) replace(m *queue.Message) error {
	var dropped []*queue.Message
	d.recall()
	admitted := d.door.Reserve(m)
	for !admitted {
		oldest := d.queue.Drop()
		if oldest == nil {
			break
		}
		dropped = append(dropped, oldest)
		d.release(dropped[len(dropped)-1:])
		admitted = d.door.Reserve(m)
	}
	d.stats.Dropped += uint64(len(dropped))
	switch {
	case !admitted:
		d.stats.Refused++
	case d.admit(m):
		d.signal()
	}
	d.mu.Unlock()
	d.discard(dropped)
	if !admitted {
		return ErrFull
	}
	return nil
}

// recall puts the batches that wait for another attempt back into the queue: in an
// outage nearly all messages would be in such batches, and the youngest be dropped;
// d.mu is held.
func (d *Dispatcher) recall() {
	for _, b := range d.parked {
		delete(d.out, b)
		d.putBack(b.Messages, nil)
	}
	d.parked = nil
}

func (d *Dispatcher) discard(dropped []*queue.Message) {
	if len(dropped) == 0 {
		return
	}
	for _, m := range dropped {
		d.cfg.Report(m, ErrDropped)
	}
	d.cfg.Log.Warn("dropped the oldest messages of the full queue", "messages", len(dropped))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle(nil, dropped...)
}
