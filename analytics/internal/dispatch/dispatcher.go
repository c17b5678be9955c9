package dispatch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/batch"
	"github.com/anabranch/anabranch/analytics/internal/door"
	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/schedule"
)

// Dispatcher sends what is put into it. All of its methods may be called at the
// same time from any goroutine.
type Dispatcher struct {
	cfg     Config
	halt    context.CancelFunc // ends attempts and pauses
	wake    chan struct{}      // capacity 1: the loop has something to look at
	ended   chan struct{}      // closed: the loop and all it started have returned
	settled chan struct{}      // closed: every message has its outcome

	door door.Door

	mu       sync.Mutex       // guards all below
	spare    []*queue.Message // empty: for what arrives next
	queue    queue.Queue
	held     queue.Load // let in and not yet decided on
	open     int        // let in and not yet reported
	blocked  []*caller
	flushes  []*flush
	schedule schedule.Schedule
	out      map[*batch.Batch]bool // batches not yet decided on; true: their request is under way
	parked   []*batch.Batch        // of these, such as wait for another attempt, the next one first
	inFlight int                   // requests under way, and batches that are being reported
	busyUpTo uint64                // messages up to this one came while requests were under way
	retrying int                   // of the requests, such as are not a batch's first
	decided  int                   // batches so far
	size     batch.Allowance
	closed   bool
	lastErr  error // of the last attempt that failed
	stats    Stats
}

// New starts a Dispatcher, which has to be closed.
func New(cfg Config) *Dispatcher {
	ctx, halt := context.WithCancel(context.Background())
	d := &Dispatcher{
		cfg: cfg, halt: halt,
		wake:  make(chan struct{}, 1),
		ended: make(chan struct{}), settled: make(chan struct{}),
		schedule: schedule.Schedule{LastFlush: time.Now()}, out: map[*batch.Batch]bool{},
		door: door.Door{Room: queue.Load{Messages: cfg.MaxMessages, Bytes: cfg.MaxBytes}},
		size: batch.NewAllowance(cfg.BatchBytes),
	}
	go d.loop(ctx)
	return d
}

// Stats returns a consistent snapshot.
func (d *Dispatcher) Stats() Stats {
	d.lock()
	defer d.mu.Unlock()
	s := d.stats
	s.Queued, s.QueuedBytes, s.InFlight = d.held.Messages, d.held.Bytes, d.inFlight
	return s
}

// signal has the loop look; it does not wait.
func (d *Dispatcher) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// flush is a call of Flush that waits.
type flush struct {
	upTo uint64 // messages up to this one
	left int    // of these that have no outcome
	err  error
	done chan struct{}
}

// Flush has all that was let in before the call leave now, and waits until each
// has its outcome or ctx ends.
func (d *Dispatcher) Flush(ctx context.Context) error {
	d.lock()
	if d.open == 0 {
		d.mu.Unlock()
		return nil
	}
	f := &flush{upTo: d.queue.Last(), left: d.open, done: make(chan struct{})}
	d.flushes = append(d.flushes, f)
	d.schedule.DueUpTo = f.upTo
	d.mu.Unlock()
	d.signal()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		d.mu.Lock()
		defer d.mu.Unlock()
		d.flushes = slices.DeleteFunc(d.flushes, func(other *flush) bool { return other == f })
		return context.Cause(ctx)
	}
}

// settle tells flushes that messages have their outcome and were reported; d.mu is
// held.
func (d *Dispatcher) settle(err error, messages ...*queue.Message) {
	d.open -= len(messages)
	d.flushes = slices.DeleteFunc(d.flushes, func(f *flush) bool {
		for _, m := range messages {
			if m.Seq <= f.upTo {
				f.left--
			}
		}
		if f.left > 0 {
			return false
		}
		f.err = err
		close(f.done)
		return true
	})
}
