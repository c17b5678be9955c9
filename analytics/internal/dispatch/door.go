package dispatch

import (
	"math"
	"slices"
	"sync"

	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// door is what most callers see of a dispatcher. Its lock is held for a few
// instructions at a time, so they do not wait for what is done with batches under
// Dispatcher.mu. Whoever takes that takes in what has arrived here, in order, so
// under it nothing can be seen of the difference. Dispatcher.mu is locked first
// where both are.
type door struct {
	mu      sync.Mutex
	arrived []*queue.Message // let in, and not yet taken in
	used    queue.Load       // let in and not yet decided on
	shut    bool
	crowded bool       // callers wait for room, and are not to be passed
	quiet   queue.Load // how much more may arrive before the loop has to look
}

// undisturbed is more than can arrive.
func undisturbed() queue.Load { return queue.Load{Messages: math.MaxInt, Bytes: math.MaxInt} }

// enter lets a message in if there is room and nobody is before it.
func (d *Dispatcher) enter(m *queue.Message) bool {
	d.door.mu.Lock()
	entered := !d.door.shut && !d.door.crowded && d.door.fit(m, &d.cfg)
	if entered {
		d.door.arrived = append(d.door.arrived, m)
	}
	stir := entered && d.door.disturb(m)
	d.door.mu.Unlock()
	if stir {
		d.signal()
	}
	return entered
}

// fit takes room for a message if there is any.
func (r *door) fit(m *queue.Message, c *Config) bool {
	if r.used.Messages >= c.MaxMessages || r.used.Bytes+len(m.JSON) > c.MaxBytes {
		return false
	}
	r.used.Messages++
	r.used.Bytes += len(m.JSON)
	return true
}

// disturb reports whether the loop has to look at what has arrived; once it does,
// it says anew what it waits for.
func (r *door) disturb(m *queue.Message) bool {
	r.quiet.Messages--
	r.quiet.Bytes -= len(m.JSON) + 1
	if r.quiet.Messages > 0 && r.quiet.Bytes > 0 {
		return false
	}
	r.quiet = undisturbed()
	return true
}

// reserve takes room for a message whose caller has d.mu.
func (d *Dispatcher) reserve(m *queue.Message) bool {
	d.door.mu.Lock()
	defer d.door.mu.Unlock()
	return d.door.fit(m, &d.cfg)
}

// lock locks d.mu and takes in what has arrived.
func (d *Dispatcher) lock() {
	d.mu.Lock()
	if d.takeIn() {
		d.signal()
	}
}

// takeIn queues what has arrived, and reports whether the loop has to look; d.mu is
// held.
func (d *Dispatcher) takeIn() (stir bool) {
	d.door.mu.Lock()
	arrived := d.door.arrived
	d.door.arrived = d.spare
	d.door.mu.Unlock()
	for _, m := range arrived {
		stir = d.admit(m) || stir
	}
	clear(arrived)
	d.spare = arrived[:0]
	return stir
}

// settleDown has the loop left alone until what arrives matters to it: the first message
// that waits, for which the time of the next flush is to be set, and the one that
// makes a batch full; d.mu is held, and everything that may leave has left.
func (d *Dispatcher) settleDown() {
	quiet := undisturbed()
	eligible := d.queue.Eligible()
	switch {
	case d.schedule.flushBy.IsZero():
		quiet.Messages = 1
	case d.inFlight < d.cfg.MaxInFlight && !d.cfg.full(eligible):
		quiet = queue.Load{Messages: d.cfg.FlushAt - eligible.Messages, Bytes: d.cfg.BatchBytes - eligible.Bytes}
	}
	d.door.mu.Lock()
	defer d.door.mu.Unlock()
	d.door.quiet = quiet
	if quiet == undisturbed() {
		return
	}
	if slices.ContainsFunc(d.door.arrived, d.door.disturb) { // in the meantime
		d.signal()
	}
}
