package dispatch

import (
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// Here is the way of a retry: on part.parked until its turn, then on to another topic, or
// due in the queue of its destination and on part.aloft. The mutex is held.

// maxAloft is how many of one partition may be due and unfinished. Those that
// finish between them go into the metadata of a commit, which holds as many gaps
// as that; what does not fit is delivered again after a clean stop.
const maxAloft = 1500

// park lets a retry wait until its turn.
func (d *Dispatcher) park(j *Job) {
	p := j.part
	j.turn = schedule.Turn(p.Delay, partition.WrittenAt(j.Record, time.Now()), j.Headers.Due)
	p.parked.Add(j)
	if p.parked.Charge(j.size) {
		d.Flow.PausePartition(p.Place)
	}
}

// unpark takes a retry off its partition's account. The account of a partition
// that was taken away is closed.
func (d *Dispatcher) unpark(j *Job) {
	if p := j.part; !p.closing && p.parked.Discharge(j.size) {
		d.Flow.ResumePartition(p.Place)
	}
}

// wake deals with all retries of a partition whose turn has come. It is the timer's,
// which may fire after the partition was taken away or the sink stopped: it sees that
// under the mutex.
func (d *Dispatcher) wake(p *part) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.closing || d.stopped {
		return
	}
	now := time.Now()
	for j, ok := p.parked.Due(now); ok; j, ok = p.parked.Due(now) {
		d.meet(j, now)
	}
	p.parked.Arm()
	d.fill()
}

// meet deals with one retry whose turn has come. One that goes on to another
// topic, or to dead-letters, needs no slot. Those of a destination that is held are put back
// too: waiting here they would take room from the retries of others.
func (d *Dispatcher) meet(j *Job, now time.Time) {
	left := j.Headers.Due.Sub(now)
	switch {
	case left > 0 && left < d.Shortest:
		// Too little for any topic: it waits here.
		j.turn = j.Headers.Due
		j.part.parked.Add(j)
	case left > 0 || j.Err != nil || j.Headers.Destination == "" || d.queues.IsHeld(j.Headers.Destination):
		d.putBack(j)
	default:
		d.arrive(j, now)
	}
}

// arrive lets a due retry wait for a slot of its destination, if it will not wait
// long. If it would, it gets a slot in the future and goes back to a topic until
// then: where it is, it would take room from the retries of others.
//
// As a rule a slot is reserved once, and again only when memory is full. Were a
// retry to reserve anew each time it comes too early, or to go back for a while
// without any, almost all of a large backlog would see its window end.
func (d *Dispatcher) arrive(j *Job, now time.Time) {
	q := d.queues.Of(j.Headers.Destination)
	j.queue = q
	if !d.queues.MayWait(q, j.size, j.Headers.Reserved, j.part.aloft >= maxAloft, now) {
		j.reserved = d.queues.Reserve(q, now)
		d.putBack(j)
		return
	}
	// What waits here is bounded by itself, so it is off the partition's account: a
	// destination that hangs must not pause the partition for others.
	d.unpark(j)
	j.aloft = true
	j.part.aloft++
	d.queues.PushDue(q, j, j.size)
	d.queues.LineUp(q)
}
