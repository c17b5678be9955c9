package dispatch

import (
	"context"
	"sync"
	"time"
)

// loop starts batches until the dispatcher is closed and nothing is left, or
// until ctx ends.
func (d *Dispatcher) loop(ctx context.Context) {
	defer close(d.ended)
	var batches sync.WaitGroup
	defer batches.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait, over := d.start(ctx, &batches)
		if over {
			return
		}
		if wait == 0 {
			wait = time.Hour
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
	d.mu.Lock()
	defer d.mu.Unlock()
	d.takeIn()
	defer d.settleDown()
	for d.inFlight < d.cfg.MaxInFlight {
		now := time.Now()
		d.schedule.expire(now, d.queue.Last())
		var leave bool
		if leave, wait = d.schedule.next(now, &d.queue, &d.cfg); !leave {
			break
		}
		batch := d.queue.Take(d.cfg.BatchMessages, d.cfg.BatchBytes)
		d.schedule.left(now, d.cfg.FlushAfter, d.queue.Waiting().Messages)
		d.inFlight++
		d.out[batch[0]] = batch
		batches.Go(func() { d.deliver(ctx, batch) })
	}
	return wait, d.closed && d.held.Messages == 0
}
