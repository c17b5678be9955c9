package dispatch

import (
	"github.com/anabranch/anabranch/analytics/internal/door"
	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// lock locks d.mu and takes in what has arrived. Whoever takes that lock does so, so
// that under it nothing can be seen of the door's; it is locked before the door's where
// both are.
func (d *Dispatcher) lock() {
	d.mu.Lock()
	if d.takeIn() {
		d.signal()
	}
}

// takeIn queues what has arrived, and reports whether the loop has to look; d.mu is
// held.
func (d *Dispatcher) takeIn() (stir bool) {
	arrived := d.door.TakeIn(d.spare)
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
	quiet := door.Undisturbed()
	eligible := d.queue.Eligible()
	switch {
	case d.schedule.FlushBy.IsZero():
		quiet.Messages = 1
	case d.inFlight < d.cfg.MaxInFlight && !d.cfg.trigger().Full(eligible):
		quiet = queue.Load{Messages: d.cfg.FlushAt - eligible.Messages, Bytes: d.cfg.BatchBytes - eligible.Bytes}
	}
	if d.door.Quiet(quiet) {
		d.signal()
	}
}
