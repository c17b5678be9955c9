package dispatch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/batch"
	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/schedule"
)

// loop starts batches until the dispatcher is closed and nothing is left, or
// until ctx ends.
func (d *Dispatcher) loop(ctx context.Context) {
	defer close(d.ended)
	var batches sync.WaitGroup
	defer batches.Wait()
	timer := time.NewTimer(schedule.Ever)
	defer timer.Stop()
	for {
		wait, over := d.start(ctx, &batches)
		if over {
			return
		}
		timer.Reset(wait)
		select {
		case <-d.wake:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// start starts every batch that may leave now and returns when to look again, or
// that there is nothing more to come.
func (d *Dispatcher) start(ctx context.Context, batches *sync.WaitGroup) (wait time.Duration, over bool) {
	run := func(do func()) {
		batches.Add(1)
		go func() {
			defer batches.Done()
			do()
		}()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.takeIn()
	defer d.settleDown()
	now := time.Now()
	for _, b := range d.overdue(now) {
		run(func() { d.giveUp(b) })
	}
	for wait = schedule.Ever; d.inFlight < d.cfg.MaxInFlight; {
		b, pause := d.next(now)
		if b == nil {
			wait = pause
			break
		}
		b.Decided = d.decided
		d.inFlight++
		d.out[b] = true
		run(func() { d.deliver(ctx, b) })
	}
	return min(wait, d.untilOverdue(now)), d.closed && d.held.Messages == 0
}

// next returns the batch that leaves now, or how long to wait for one unless something
// happens first; d.mu is held. Second attempts may have every request when
// nothing new is to be sent, and half of them otherwise: batches that always fail
// would have them all.
func (d *Dispatcher) next(now time.Time) (b *batch.Batch, wait time.Duration) {
	d.schedule.Expire(now, d.queue.Last())
	leave, wait := d.schedule.Next(now, &d.queue, d.cfg.trigger())
	if len(d.parked) > 0 {
		if d.cfg.MaxInFlight == 1 { // nothing may overtake it
			leave, wait = false, schedule.Ever
		}
		b = d.parked[0]
		pause := b.Due.Sub(now)
		if pause <= 0 && (!leave || 2*d.retrying < d.cfg.MaxInFlight) {
			d.parked = slices.Delete(d.parked, 0, 1)
			d.retrying++
			b.Again = true
			return b, 0
		}
		wait = min(wait, max(pause, 1))
	}
	if !leave {
		return nil, wait
	}
	room := queue.Room{Messages: d.cfg.BatchMessages, Bytes: d.size.Now(), InOrder: d.cfg.MaxInFlight == 1}
	if d.inFlight == 0 && d.queue.Oldest().Seq > d.busyUpTo {
		room.Messages = min(room.Messages, d.cfg.FlushAt) // nothing has piled up behind a request
	}
	b = batch.New(d.queue.Take(room))
	d.schedule.Left(now, d.cfg.FlushAfter, d.queue.Waiting().Messages)
	return b, 0
}
