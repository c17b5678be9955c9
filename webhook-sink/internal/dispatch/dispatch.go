package dispatch

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// Dispatcher is the state of the loop. It may be used by many goroutines.
type Dispatcher struct {
	Options

	finished chan struct{}

	mu      sync.Mutex
	parts   map[partition.Place]*part // assigned to us
	queues  *queues.Queues[*Job]
	running int // jobs being worked on, with a slot or without
	stopped bool
	idle    chan struct{} // closed once stopped and nothing runs
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
	PausePartition, ResumePartition func(partition.Place)
}

// Gauges show the state of the loop.
type Gauges struct {
	queues.Gauges

	Lateness prometheus.Observer // seconds from when a retry was due to its start
}

// New returns a Dispatcher to which no partition is assigned.
func New(o Options) *Dispatcher {
	d := &Dispatcher{Options: o, parts: make(map[partition.Place]*part), idle: make(chan struct{}), finished: make(chan struct{}, 1)}
	d.queues = queues.New[*Job](queues.Options{
		Limits: o.Limits, Shortest: o.Shortest, FetchWait: o.FetchWait, Gauges: o.Gauges.Gauges,
		Pause: o.Flow.PauseTopic, Resume: o.Flow.ResumeTopic,
		Wake: func(end func()) {
			d.mu.Lock()
			defer d.mu.Unlock()
			end()
			d.fill()
		},
	})
	return d
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
	d.queues.SetShare(share)
}

// Take accepts fetched jobs of one partition, in order of their offsets.
func (d *Dispatcher) Take(at partition.Place, jobs []*Job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.ours(at)
	if p == nil {
		// Fetched just before the partition was taken away: whoever gets it fetches
		// them again, since nothing here notes them as begun.
		return
	}
	fresh := jobs[:0]
	for _, j := range jobs {
		reading, ok := p.Accept(j.Record)
		j.part, j.reading = p, reading
		if ok {
			fresh = append(fresh, j)
		}
	}
	if p.Retry {
		for _, j := range fresh {
			d.park(j)
		}
		p.parked.Arm()
		return
	}
	q := d.feed(p)
	for _, j := range fresh {
		d.push(q, j)
	}
	d.queues.Arrived(q, len(fresh), kept, d.setAside)
	d.seek(p)
	d.fill()
}

// Done takes back a job that was worked on, with the outcome of its attempt: none of a
// job that was only put back, and abandoned of one that our own shutdown cut short,
// even where its attempt had ended but what it calls for was not written. A job of a replay
// whose attempt was withheld is not finished: it waits for another one. It returns the next
// job for the same worker, nil when there is none.
func (d *Dispatcher) Done(j *Job, o outcome.Outcome) *Job {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := j.part
	waits := p.Replay && o.Verdict == outcome.Withheld
	if !waits && o.Verdict != outcome.Abandoned { // else it stays begun, and the watermark never passes it
		p.Finish(j.Record.Offset, j.reading, j.aside)
		d.Tell()
	}
	now := time.Now()
	// What the job held is given back before anything else may start: what starts next
	// is decided by these counts.
	if j.slot {
		d.queues.Ended(j.queue, p.Retry, j.beside, o, j.size, now.Sub(j.began), now)
	}
	switch {
	case waits && !p.closing && !d.stopped:
		d.queues.PutBack(j.queue, j.key, j, o.Until, now)
	case !p.Retry:
		d.discharge(j)
		j.queue.Lanes.Release(j.key)
		d.seek(p) // there is room for more of what was set aside
	case j.aloft:
		p.aloft--
	default:
		d.unpark(j) // it never left the partition's account
	}
	p.running--
	p.signal()
	d.running--
	if d.stopped && d.running == 0 {
		close(d.idle)
	}
	if !j.slot {
		return nil // nothing became free, and its goroutine was one beside the slots
	}
	d.queues.LineUp(j.queue)
	// The worker takes the next job itself, which saves a goroutine per event.
	next := d.next(now)
	if next != nil {
		d.fill() // a slot that is free again may let more than one queue pass
	}
	return next
}

// fill starts whatever may start.
func (d *Dispatcher) fill() {
	if d.queues.IsEmpty() {
		return
	}
	now := time.Now()
	for j := d.next(now); j != nil; j = d.next(now) {
		d.Start(j)
	}
}

// next takes the next job that may start, nil when there is none.
func (d *Dispatcher) next(now time.Time) *Job {
	if d.stopped {
		return nil
	}
	j, ok := d.queues.Next(now)
	if !ok {
		return nil
	}
	j.slot, j.began, j.beside = true, now, j.queue.Slots.Replays > 0
	if j.IsReplay() {
		j.beside = j.queue.Slots.Replays > 1 // it is one of them
	}
	if j.IsRetry() && !j.Headers.Due.IsZero() {
		d.Gauges.Lateness.Observe(now.Sub(j.Headers.Due).Seconds())
	}
	d.run(j)
	return j
}

// run notes that a job is being worked on.
func (d *Dispatcher) run(j *Job) {
	j.part.running++
	d.running++
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
			p.parked.Stop()
		}
		d.queues.Stop()
		if d.running == 0 {
			close(d.idle)
		}
	}
	return d.idle
}

// ours returns a partition that is ours and in which something may start, else nil.
func (d *Dispatcher) ours(at partition.Place) *part {
	if p := d.parts[at]; p != nil && !p.closing && !d.stopped {
		return p
	}
	return nil
}

// each calls f for the named partitions that are ours.
func (d *Dispatcher) each(of map[string][]int32, f func(*part)) {
	for _, at := range kafka.Partitions(of) {
		if p := d.parts[at]; p != nil {
			f(p)
		}
	}
}
