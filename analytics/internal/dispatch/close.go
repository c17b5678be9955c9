package dispatch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/batch"
	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// Close lets nothing more in, answers callers who wait for room with ErrClosed,
// and sends what there is until ctx ends. It returns the messages that were not
// sent by then, in the order in which they were put, and reports them; the answer
// to the last attempt of some may have been on its way. When it returns, nothing
// of the dispatcher runs any more, unless a Report or a Post does not return.
//
// The first call closes. Any other waits for it, at most until its own context ends,
// and returns ErrClosed.
func (d *Dispatcher) Close(ctx context.Context) ([]*queue.Message, error) {
	if !d.shut() {
		select {
		case <-d.settled:
		case <-ctx.Done():
		}
		return nil, ErrClosed
	}
	defer close(d.settled)
	defer d.halt()
	select {
	case <-d.ended:
	case <-ctx.Done():
		d.halt()
		d.awaitEnd()
	}
	unsent, err := d.leftovers()
	for _, m := range unsent {
		d.cfg.Report(m, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle(ErrClosed, unsent...)
	return unsent, err
}

// grace is how long attempts that were cut may take to return.
const grace = time.Second

func (d *Dispatcher) awaitEnd() {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-d.ended:
	case <-timer.C:
	}
}

// shut reports whether this call was the first.
func (d *Dispatcher) shut() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.closed = true
	d.door.Shut()
	d.takeIn()
	for _, c := range d.blocked {
		c.answer <- ErrClosed
	}
	d.blocked = nil
	d.schedule.DueUpTo = d.queue.Last()
	d.schedule.Succeed() // nothing waits for the client's own pause any more
	d.hurry(time.Now())
	d.signal()
	return true
}

// leftovers takes what has no outcome when the loop has ended.
func (d *Dispatcher) leftovers() ([]*queue.Message, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var unsent []*queue.Message
	for b, underWay := range d.out {
		unsent = append(unsent, b.Messages...)
		if underWay { // an attempt that does not heed its context
			d.inFlight--
		}
	}
	clear(d.out)
	d.parked = nil
	for m := d.queue.Drop(); m != nil; m = d.queue.Drop() {
		unsent = append(unsent, m)
	}
	if len(unsent) == 0 {
		return nil, nil
	}
	slices.SortFunc(unsent, func(a, b *queue.Message) int { return cmp.Compare(a.Seq, b.Seq) })
	d.release(unsent)
	d.stats.Unsent += uint64(len(unsent))
	return unsent, d.because(ErrUnsent)
}

// hurry has the batches attempted now that wait for the client's own pause; d.mu is
// held. One that waits because the server has asked for it is left to wait.
func (d *Dispatcher) hurry(now time.Time) {
	for _, b := range d.parked {
		if !b.Asked {
			b.Hurry(now)
		}
	}
	slices.SortStableFunc(d.parked, func(a, b *batch.Batch) int { return a.Due.Compare(b.Due) })
}
