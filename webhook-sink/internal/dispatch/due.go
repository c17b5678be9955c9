package dispatch

import "time"

const (
	// maxDue is how many due retries of one destination wait for a slot at most,
	// and maxDueBytes what those of all destinations may take, beside one of each.
	// As with slots, a destination gets no more bytes than it leaves to the others:
	// those that hang can't send the retries of the rest back to a topic.
	maxDue      = 1000
	maxDueBytes = 16 << 20
	// maxAloft is how many of one partition may be due and unfinished. Those that
	// finish between them go into the metadata of a commit, which holds as many gaps
	// as that; what does not fit is delivered again after a clean stop.
	maxAloft = 1500
)

// arrive lets a due retry wait for a slot of its destination, if it will not wait
// long. If it would, it gets a slot in the future and goes back to a topic until
// then: where it is, it would take room from the retries of others.
//
// As a rule a slot is reserved once, and again only when memory is full. Were a
// retry to reserve anew each time it comes too early, or to go back for a while
// without any, almost all of a large backlog would see its window end.
func (d *Dispatcher) arrive(j *Job, now time.Time) {
	j.queue = d.queue(j.Headers.Destination)
	if !d.mayWait(j.queue, j, now) {
		j.reserved = j.queue.pace.Reserve(now, d.limits.Retries())
		d.run(j)
		d.start(j)
		return
	}
	// What waits here is bounded by itself, so it is off the partition's account: a
	// destination that hangs must not pause the partition for others.
	d.unpark(j)
	j.part.aloft++
	j.queue.due.push(j)
	d.countDue(j, +1)
	d.lineUp(j.queue)
}

func (d *Dispatcher) mayWait(q *queue, j *Job, now time.Time) bool {
	switch waiting := q.due.len(); {
	case waiting == 0:
		return true // it takes the next slot, and the others' memory is no reason to leave that free
	case waiting >= maxDue, j.part.aloft >= maxAloft, q.dueBytes+j.size > maxDueBytes-d.dueBytes-j.size:
		return false
	case j.Headers.Reserved:
		return true
	default:
		return waiting < q.pace.Room(now, d.limits.Retries(), maxDue)
	}
}

func (d *Dispatcher) countDue(j *Job, n int) {
	j.queue.dueBytes += n * j.size
	d.dueBytes += n * j.size
	d.gauges.Due.Add(float64(n))
}

// takeDue takes the next due retry of a queue that may start now, nil when there
// is none. When it is the pace that forbids it, a timer asks again.
func (d *Dispatcher) takeDue(q *queue, now time.Time) *Job {
	if q.due.len() == 0 || q.napping || !d.limits.Retry(&q.slots, d.inFlight) {
		return nil
	}
	if ok, next := q.pace.Take(now, d.limits.Retries()); !ok {
		d.nap(q, next.Sub(now))
		return nil
	}
	j := q.due.pop()
	d.countDue(j, -1)
	return j
}

// nap lets a queue start no retry for a time.
func (d *Dispatcher) nap(q *queue, rest time.Duration) {
	q.napping = true
	if q.timer != nil {
		q.timer.Reset(rest)
		return
	}
	q.timer = time.AfterFunc(rest, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		q.napping = false
		d.lineUp(q)
		d.fill()
	})
}

// dropDue takes the due retries of a partition out of a queue.
func (d *Dispatcher) dropDue(q *queue, p *partition) {
	q.due.remove(func(j *Job) bool {
		if j.part != p {
			return false
		}
		d.countDue(j, -1)
		p.aloft--
		return true
	})
}
