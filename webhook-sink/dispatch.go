package webhooksink

import (
	"sync"
	"time"
)

// dispatcher is the state of the loop: which partitions are ours, what waits,
// and what is in flight. It decides what starts next; what it decides is carried
// out by others through the functions it is given.
//
// One mutex guards all of it. Each operation takes about a microsecond and an
// event needs three, while finer locks would have to agree on who may still
// start when a partition is taken away in the middle of it. No network is waited
// for under the mutex.
type dispatcher struct {
	shares   shares
	shortest time.Duration // of the retry delays
	flow     flow
	metrics  *metrics
	// start works on a job, and then on each one that done returns, on a goroutine
	// of its own.
	start func(*job)
	// finished says that there is something to commit since it was last received.
	finished chan struct{}

	mu       sync.Mutex
	parts    map[place]*partition // assigned to us
	queues   map[string]*queue    // by destination id
	line     []*queue             // queues with something ready, in turn
	inFlight int                  // attempts, over all queues
	running  int                  // jobs being worked on, with a slot or without
	stopped  bool
	idle     chan struct{} // closed once stopped and nothing runs
}

// flow pauses and resumes fetching. Records that the client has buffered for
// something paused are dropped by it without moving its position, and fetched
// again after the resume: none is skipped. Those that a poll under way returns
// all the same are accepted like any others.
type flow struct {
	pauseTopic, resumeTopic         func(topic string)
	pausePartition, resumePartition func(place)
}

func newDispatcher(limits shares, shortest time.Duration, m *metrics) *dispatcher {
	return &dispatcher{
		shares:   limits,
		shortest: shortest,
		metrics:  m,
		parts:    make(map[place]*partition),
		queues:   make(map[string]*queue),
		idle:     make(chan struct{}),
		finished: make(chan struct{}, 1),
	}
}

// tell says that there is something to commit.
func (d *dispatcher) tell() {
	select {
	case d.finished <- struct{}{}:
	default: // said already, and not heard yet
	}
}

// take accepts fetched jobs of one partition, in order of their offsets.
func (d *dispatcher) take(at place, jobs []*job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.parts[at]
	if p == nil || p.closing || d.stopped {
		// Fetched just before the partition was taken away: whoever gets it fetches
		// them again, since nothing here notes them as begun.
		return
	}
	for _, j := range jobs {
		switch {
		case !p.accept(j):
		case p.retry:
			d.park(j)
		default:
			d.enqueue(j)
		}
	}
	if p.retry {
		d.arm(p)
		d.pauseParked(p)
	} else {
		d.pauseQueue(d.queue(p.destination))
		d.fill()
	}
}

func (d *dispatcher) queue(id string) *queue {
	q := d.queues[id]
	if q == nil {
		q = new(queue)
		d.queues[id] = q
	}
	return q
}

func (d *dispatcher) enqueue(j *job) {
	q := d.queue(j.part.destination)
	q.topic = j.part.topic
	j.queue, j.key = q, string(j.record.Key)
	q.bytes += j.size
	d.metrics.queued.Add(float64(j.size))
	q.lanes.Push(j.key, j)
	d.lineUp(q)
}

// lineUp lets a queue wait for a slot, if it has a use for one. Queues at their
// own limit stay out of the line; they come back when one of their attempts ends.
func (d *dispatcher) lineUp(q *queue) {
	if !q.inTurn && q.lanes.Ready() && q.inFlight() < d.shares.each {
		q.inTurn = true
		d.line = append(d.line, q)
	}
}

// fill starts whatever may start.
func (d *dispatcher) fill() {
	for j := d.next(); j != nil; j = d.next() {
		d.start(j)
	}
}

// next takes the next first attempt that may start, nil when there is none. The
// queues in line get one slot each in turn; one that may not take a slot yet goes
// to the end of the line.
func (d *dispatcher) next() *job {
	if d.stopped {
		return nil
	}
	for range len(d.line) {
		q := d.line[0]
		d.line[0] = nil
		d.line = d.line[1:]
		q.inTurn = false
		if !d.shares.first(q, d.inFlight) {
			d.lineUp(q)
			continue
		}
		if j, ok := q.lanes.Pop(); ok {
			d.begin(j)
			d.lineUp(q)
			return j
		}
	}
	return nil
}

// begin gives a job a slot.
func (d *dispatcher) begin(j *job) {
	j.attempt = true
	if j.isRetry() {
		j.queue.retries++
	} else {
		j.queue.firsts++
	}
	d.inFlight++
	d.metrics.inFlight.Set(float64(d.inFlight))
	d.run(j)
}

func (d *dispatcher) run(j *job) {
	j.part.running++
	d.running++
}

// done takes back a job that was worked on. One that is not finished (our own
// shutdown cut it short) stays begun: the watermark never passes it. It returns
// the next job for the same worker, nil when there is none.
func (d *dispatcher) done(j *job, finished bool) *job {
	d.mu.Lock()
	defer d.mu.Unlock()
	if finished {
		j.tracker.Finish(j.record.Offset)
		d.tell()
	}
	switch {
	case !j.isRetry():
		j.queue.firsts--
		j.queue.bytes -= j.size
		d.metrics.queued.Sub(float64(j.size))
		j.queue.lanes.Release(j.key)
		d.resumeQueue(j.queue)
	case j.attempt:
		j.queue.retries--
	default:
		d.unpark(j)
	}
	j.part.ended()
	d.running--
	if d.stopped && d.running == 0 {
		close(d.idle)
	}
	if !j.attempt {
		return nil
	}
	d.inFlight--
	d.metrics.inFlight.Set(float64(d.inFlight))
	d.lineUp(j.queue)
	next := d.next()
	d.fill() // a slot that is free again may let more than one queue pass
	return next
}

func (d *dispatcher) pauseQueue(q *queue) {
	if high, _ := marks(len(d.queues)); q.bytes > high && !q.paused {
		q.paused = true
		d.flow.pauseTopic(q.topic)
	}
}

// resumeQueue is called whenever bytes leave a queue. A paused queue has some,
// and each of them leaves one day, so none stays paused for ever: not when its
// partitions are revoked, and not when they come back.
func (d *dispatcher) resumeQueue(q *queue) {
	if _, low := marks(len(d.queues)); q.paused && q.bytes < low {
		q.paused = false
		d.flow.resumeTopic(q.topic)
	}
}

// stop lets nothing start any more. The channel is closed once nothing runs.
//
// A retry's timer may be firing at this moment: it waits for the mutex and then
// sees stopped.
func (d *dispatcher) stop() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopped {
		d.stopped = true
		for _, p := range d.parts {
			if p.timer != nil {
				p.timer.Stop()
			}
		}
		if d.running == 0 {
			close(d.idle)
		}
	}
	return d.idle
}

// each calls f for the named partitions that are ours.
func (d *dispatcher) each(of map[string][]int32, f func(*partition)) {
	for topic, nums := range of {
		for _, num := range nums {
			if p := d.parts[place{topic, num}]; p != nil {
				f(p)
			}
		}
	}
}
