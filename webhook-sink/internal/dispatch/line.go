package dispatch

import "time"

// lineUp lets a queue wait for a slot, if it has a use for one. Queues at their
// own limit stay out of the line; they come back when one of their attempts ends.
func (d *Dispatcher) lineUp(q *queue) {
	if !q.inTurn && q.slots.InFlight() < d.limits.Most(&q.slots) && (q.lanes.Ready() || q.due.len() > 0 && !q.napping) {
		q.inTurn = true
		d.line.push(q)
	}
}

// fill starts whatever may start.
func (d *Dispatcher) fill() {
	if d.line.len() == 0 {
		return
	}
	now := time.Now()
	for j := d.next(now); j != nil; j = d.next(now) {
		d.start(j)
	}
}

// next takes the next job that may start, nil when there is none. The queues in
// line get one slot each in turn; one that may not take a slot yet goes to the
// end of the line.
func (d *Dispatcher) next(now time.Time) *Job {
	if d.stopped {
		return nil
	}
	for range d.line.len() {
		q := d.line.pop()
		q.inTurn = false
		j := d.pick(q, now)
		if j != nil {
			d.begin(j, now)
		}
		d.lineUp(q)
		if j != nil {
			return j
		}
	}
	return nil
}

// pick takes what a queue may start now. Retries have waited longer, but where
// both kinds wait they take turns: a destination may have a single slot, or no
// more than that left to it by others, and a backlog of one kind would keep it
// from the other for as long as it lasts.
func (d *Dispatcher) pick(q *queue, now time.Time) *Job {
	if q.afterRetry {
		if j := d.takeFirst(q); j != nil {
			return j
		}
		return d.takeDue(q, now)
	}
	if j := d.takeDue(q, now); j != nil {
		return j
	}
	return d.takeFirst(q)
}

func (d *Dispatcher) takeFirst(q *queue) *Job {
	if !d.limits.Room(&q.slots, d.inFlight) {
		return nil
	}
	j, _ := q.lanes.Pop()
	return j
}

// begin gives a job a slot.
func (d *Dispatcher) begin(j *Job, now time.Time) {
	j.slot, j.began = true, now
	j.queue.afterRetry = j.IsRetry()
	if j.IsRetry() {
		j.queue.slots.Retries++
		if !j.Headers.Due.IsZero() {
			d.gauges.Lateness.Observe(j.began.Sub(j.Headers.Due).Seconds())
		}
	} else {
		j.queue.slots.Firsts++
	}
	d.inFlight++
	d.gauges.InFlight.Set(float64(d.inFlight))
	d.run(j)
}

func (d *Dispatcher) run(j *Job) {
	j.part.running++
	d.running++
}
