package webhooksink

import "time"

// longestNap bounds a timer: due times are wall-clock times and timers are not,
// so a clock that is set while a retry waits is noticed within a minute.
const longestNap = time.Minute

// park lets a retry wait until its turn.
func (d *dispatcher) park(j *job) {
	j.turn = turn(j.part.delay, j.record.Timestamp, j.headers.Due)
	j.part.waiting.add(j)
	j.part.parked += j.size
}

// unpark takes a retry off its partition's account. The account of a partition
// that was taken away is closed.
func (d *dispatcher) unpark(j *job) {
	p := j.part
	if p.closing {
		return
	}
	p.parked -= j.size
	if p.paused && p.parked < parkLow {
		p.paused = false
		d.flow.resumePartition(p.place)
	}
}

func (d *dispatcher) pauseParked(p *partition) {
	if p.parked > parkHigh && !p.paused {
		p.paused = true
		d.flow.pausePartition(p.place)
	}
}

// arm sets the partition's timer for the first retry that waits.
func (d *dispatcher) arm(p *partition) {
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
func (d *dispatcher) wake(p *partition) {
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
}

// meet deals with one retry whose turn has come. It never waits for a slot:
// records behind this one, of other destinations, would wait along.
func (d *dispatcher) meet(j *job, now time.Time) {
	left := j.headers.Due.Sub(now)
	if left > 0 && left < d.shortest {
		// Too little for any topic: it waits here.
		j.turn = j.headers.Due
		j.part.waiting.add(j)
		return
	}
	if j.err == nil && j.headers.Destination != "" {
		j.queue = d.queue(j.headers.Destination)
	}
	if left > 0 || j.queue == nil || !d.shares.retry(j.queue, d.inFlight) {
		d.run(j) // without a slot: it only goes to another topic
		d.start(j)
		return
	}
	// Attempts in flight are bounded by the slots, so they are off the
	// partition's account: a destination that hangs must not pause it for others.
	d.unpark(j)
	d.begin(j)
	if !j.headers.Due.IsZero() {
		d.metrics.lateness.Observe(-left.Seconds())
	}
	d.start(j)
}
