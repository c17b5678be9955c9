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
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return ErrClosed
	}
	if d.roomFor(m) && len(d.blocked) == 0 {
		d.admit(m)
		d.mu.Unlock()
		return nil
	}
	// A full queue does not wait for a batch of the usual size, which it may be too
	// small for.
	d.schedule.dueUpTo = d.queue.Last()
	d.signal()
	switch d.cfg.Full {
	case DropOldest:
		return d.replace(m)
	case Refuse:
		d.stats.Refused++
		d.mu.Unlock()
		return ErrFull
	default:
		c := &caller{message: m, answer: make(chan error, 1)}
		d.blocked = append(d.blocked, c)
		d.mu.Unlock()
		return d.await(ctx, c)
	}
}

func (d *Dispatcher) roomFor(m *queue.Message) bool {
	return d.held.Messages < d.cfg.MaxMessages && d.held.Bytes+len(m.JSON) <= d.cfg.MaxBytes
}

// admit queues a message and wakes the loop if that matters to it: not for a
// message that only joins others; d.mu is held.
func (d *Dispatcher) admit(m *queue.Message) {
	d.held.Messages++
	d.held.Bytes += len(m.JSON)
	d.open++
	d.stats.Accepted++
	d.queue.Put(m)
	first := d.schedule.flushBy.IsZero()
	if first {
		d.schedule.arm(time.Now(), d.cfg.FlushAfter)
	}
	if first || d.inFlight < d.cfg.MaxInFlight && d.cfg.full(d.queue.Eligible()) {
		d.signal()
	}
}

// release gives back the room of messages, to callers who wait for it in the order
// of their calls; d.mu is held.
func (d *Dispatcher) release(messages []*queue.Message) {
	for _, m := range messages {
		d.held.Messages--
		d.held.Bytes -= len(m.JSON)
	}
	admitted := 0
	for _, c := range d.blocked {
		if !d.roomFor(c.message) {
			break
		}
		d.admit(c.message)
		c.answer <- nil
		admitted++
	}
	d.blocked = slices.Delete(d.blocked, 0, admitted)
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
	return fmt.Errorf("%w: %w", ErrFull, context.Cause(ctx))
}

// replace lets a message in after having dropped as many of the oldest as that
// takes. What is out can't be dropped, so there may be too few. It is called with
// d.mu held and lets go of it.
func (d *Dispatcher) replace(m *queue.Message) error {
	var dropped []*queue.Message
	for !d.roomFor(m) {
		oldest := d.queue.Drop()
		if oldest == nil {
			break
		}
		dropped = append(dropped, oldest)
		d.release(dropped[len(dropped)-1:])
	}
	d.stats.Dropped += uint64(len(dropped))
	admitted := d.roomFor(m)
	if admitted {
		d.admit(m)
	} else {
		d.stats.Refused++
	}
	d.mu.Unlock()
	d.discard(dropped)
	if !admitted {
		return ErrFull
	}
	return nil
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
