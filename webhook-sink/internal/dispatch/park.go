package dispatch

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

const (
	// longestNap bounds a timer: due times are wall-clock times and timers are not,
	// so a clock that is set while a retry waits is noticed within a minute.
	longestNap = time.Minute

	// A partition of retries pauses above parkHigh and resumes below parkLow. It
	// needs only the few that are due next.
	parkHigh = 128 << 10
	parkLow  = 64 << 10
)

// park lets a retry wait until its turn.
func (d *Dispatcher) park(j *Job) {
	j.turn = schedule.Turn(j.part.delay, writtenAt(j.Record, time.Now()), j.Headers.Due)
	j.part.waiting.add(j)
	j.part.parked += j.size
}

// writtenAt is when a retry record was written, by the clock that has set its due time.
// A broker that puts its own time on records has another: against the clock of a sink
// that is ahead of it, a retry would have been looked at before it was written, and
// would go from topic to topic without a pause until it is due. Fetched as soon as it
// is written, as a rule, it counts from then.
func writtenAt(r *kgo.Record, now time.Time) time.Time {
	const byBroker = 1
	if r.Attrs.TimestampType() == byBroker {
		return now
	}
	return r.Timestamp
}

// unpark takes a retry off its partition's account. The account of a partition
// that was taken away is closed.
func (d *Dispatcher) unpark(j *Job) {
	p := j.part
	if p.closing {
		return
	}
	p.parked -= j.size
	if p.paused && p.parked < parkLow {
		p.paused = false
		d.flow.ResumePartition(p.Place)
	}
}

func (d *Dispatcher) pauseParked(p *partition) {
	if p.parked > parkHigh && !p.paused {
		p.paused = true
		d.flow.PausePartition(p.Place)
	}
}

// arm sets the partition's timer for the first retry that waits.
func (d *Dispatcher) arm(p *partition) {
	if len(p.waiting) == 0 {
		return
	}
	nap := min(max(time.Until(p.waiting[0].turn), 0), longestNap)
	if p.timer == nil {
		p.timer = time.AfterFunc(nap, func() { d.wake(p) })
		return
	}
	p.timer.Reset(nap)
}

// wake is the timer: it deals with all retries of a partition whose turn has
// come. It may fire once too often (a reset that came too late), which finds
// nothing due, and after the partition was taken away or the sink stopped, which
// it sees under the mutex.
func (d *Dispatcher) wake(p *partition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.closing || d.stopped {
		return
	}
	now := time.Now()
	for j := p.waiting.due(now); j != nil; j = p.waiting.due(now) {
		d.meet(j, now)
	}
	d.arm(p)
	d.fill()
}

// meet deals with one retry whose turn has come. One that goes on to another
// topic, or to dead-letters, needs no slot.
func (d *Dispatcher) meet(j *Job, now time.Time) {
	left := j.Headers.Due.Sub(now)
	switch {
	case left > 0 && left < d.shortest:
		// Too little for any topic: it waits here.
		j.turn = j.Headers.Due
		j.part.waiting.add(j)
	case left > 0 || j.Err != nil || j.Headers.Destination == "":
		d.run(j)
		d.start(j)
	default:
		d.arrive(j, now)
	}
}
