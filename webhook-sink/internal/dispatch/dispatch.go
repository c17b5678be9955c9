// Package dispatch is the state of the sink's loop: which partitions are ours,
// what waits, and what is in flight. It decides what starts next; what it decides
// is carried out by others through the functions it is given.
//
//	poll -> queue of the destination -> lane of the key ---------> slot -> work
//	poll -> heap by due time -> due ----> a wait in memory ------> slot -> work
//	                             |------> no room: a slot reserved, put back
//	                             |------> due later: put on
package dispatch

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// Dispatcher is the state of the loop. It may be used by many goroutines.
//
// One mutex guards all of it. Each operation takes about a microsecond and an
// event needs three, while finer locks would have to agree on who may still
// start when a partition is taken away in the middle of it. No network is waited
// for under the mutex.
type Dispatcher struct {
	limits    quota.Limits
	shortest  time.Duration // of the retry delays
	fetchWait time.Duration
	flow      Flow
	gauges    Gauges
	start     func(*Job)
	reread    func(*Reread)
	finished  chan struct{}

	mu       sync.Mutex
	parts    map[Place]*partition // assigned to us
	queues   map[string]*queue    // by destination id
	line     fifo[*queue]         // queues with something ready, in turn
	fed      int                  // queues that an assigned partition feeds
	inFlight int                  // attempts, over all queues
	running  int                  // jobs being worked on, with a slot or without
	dueBytes int                  // retries that wait for a slot
	share    float64              // of the group's retries that are ours
	stopped  bool
	idle     chan struct{} // closed once stopped and nothing runs
}

// Options are what a Dispatcher is made of.
type Options struct {
	Limits    quota.Limits
	Shortest  time.Duration // of the retry delays
	FetchWait time.Duration // how long a fetch may be under way when there is nothing to fetch
	Flow      Flow
	Gauges    Gauges
	// Start works on a job, and then on each one that Done returns, on a goroutine
	// of its own. It is called under the dispatcher's mutex.
	Start func(*Job)
	// Reread reads a part of a partition once more, on a goroutine of its own, and
	// hands what it has found to Bring, and so on with each part that Bring returns.
	// It is called under the dispatcher's mutex.
	Reread func(*Reread)
}

// Flow pauses and resumes fetching. Records that the client has buffered for
// something paused are dropped by it without moving its position, and fetched
// again after the resume: none is skipped. Those that a poll under way returns
// all the same are accepted like any others.
type Flow struct {
	PauseTopic, ResumeTopic         func(topic string)
	PausePartition, ResumePartition func(Place)
}

// Gauges show the state of the loop.
type Gauges struct {
	InFlight prometheus.Gauge    // attempts
	Queued   prometheus.Gauge    // bytes of first attempts, waiting or in flight
	Due      prometheus.Gauge    // retries that wait for a slot
	Lateness prometheus.Observer // seconds from when a retry was due to its start
}

// New returns a Dispatcher to which no partition is assigned.
func New(o Options) *Dispatcher {
	return &Dispatcher{
		limits:    o.Limits,
		shortest:  o.Shortest,
		fetchWait: o.FetchWait,
		flow:      o.Flow,
		gauges:    o.Gauges,
		start:     o.Start,
		reread:    o.Reread,
		parts:     make(map[Place]*partition),
		queues:    make(map[string]*queue),
		share:     1,
		idle:      make(chan struct{}),
		finished:  make(chan struct{}, 1),
	}
}

// Finished says that there is something to commit since it was last received.
func (d *Dispatcher) Finished() <-chan struct{} { return d.finished }

// Tell makes Finished say so.
func (d *Dispatcher) Tell() {
	select {
	case d.finished <- struct{}{}:
	default: // said already, and not heard yet
	}
}

// SetShare says which part of the group's retries is ours, in (0, 1]: what a
// receiver gets while it recovers is the sum of what all members send.
func (d *Dispatcher) SetShare(share float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.share = share
	for _, q := range d.queues {
		q.pace.SetShare(share)
	}
}

// Take accepts fetched jobs of one partition, in order of their offsets.
func (d *Dispatcher) Take(at Place, jobs []*Job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.parts[at]
	if p == nil || p.closing || d.stopped {
		// Fetched just before the partition was taken away: whoever gets it fetches
		// them again, since nothing here notes them as begun.
		return
	}
	fresh := jobs[:0]
	for _, j := range jobs {
		if p.accept(j) && !p.skips(j) {
			fresh = append(fresh, j)
		}
	}
	if p.retry {
		for _, j := range fresh {
			d.park(j)
		}
		d.arm(p)
		d.pauseParked(p)
		return
	}
	d.enqueue(p, fresh)
	d.seek(p)
	d.fill()
}

// Ended is how the work on a job ended.
type Ended struct {
	// Finished is false when our own shutdown cut it short: then it stays begun,
	// and the watermark never passes it.
	Finished  bool
	Delivered bool // its attempt was,
	Took      time.Duration
	Withheld  bool // or there was none, since the destination is down
}

// Done takes back a job that was worked on. It returns the next job for the same
// worker, nil when there is none.
func (d *Dispatcher) Done(j *Job, e Ended) *Job {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.Finished {
		j.finish()
		d.Tell()
	}
	now := time.Now()
	if j.slot {
		d.learn(j, e, now)
	}
	switch {
	case !j.IsRetry():
		j.queue.slots.Firsts--
		d.discharge(j)
		j.queue.lanes.Release(j.key)
		d.resumeQueue(j.queue)
		d.seek(j.part)
	case j.slot:
		j.queue.slots.Retries--
		j.part.aloft--
	default:
		d.unpark(j)
	}
	j.part.ended()
	d.running--
	if d.stopped && d.running == 0 {
		close(d.idle)
	}
	if !j.slot {
		return nil
	}
	d.inFlight--
	d.gauges.InFlight.Set(float64(d.inFlight))
	d.lineUp(j.queue)
	next := d.next(now)
	if next != nil {
		d.fill() // a slot that is free again may let more than one queue pass
	}
	return next
}

// learn notes what an attempt shows of its destination.
func (d *Dispatcher) learn(j *Job, e Ended, now time.Time) {
	switch {
	case e.Withheld:
		j.queue.slots.Down = true
		j.queue.pace.Withheld(now)
	case e.Delivered:
		slots := &j.queue.slots
		slots.Earned, slots.Down = min(slots.Earned+1, d.limits.Each), false
		j.queue.pace.Answered(e.Took, now)
	}
	if !j.IsRetry() {
		j.queue.speed.Note(now.Sub(j.began), j.size)
	}
}

// Stop lets nothing start any more. The channel is closed once nothing runs.
//
// A timer may be firing at this moment: it waits for the mutex and then sees
// stopped.
func (d *Dispatcher) Stop() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopped {
		d.stopped = true
		for _, p := range d.parts {
			stopTimer(p.timer)
		}
		for _, q := range d.queues {
			stopTimer(q.timer)
		}
		if d.running == 0 {
			close(d.idle)
		}
	}
	return d.idle
}

func stopTimer(t *time.Timer) {
	if t != nil {
		t.Stop()
	}
}

// each calls f for the named partitions that are ours.
func (d *Dispatcher) each(of map[string][]int32, f func(*partition)) {
	for topic, nums := range of {
		for _, num := range nums {
			if p := d.parts[Place{topic, num}]; p != nil {
				f(p)
			}
		}
	}
}
