package dispatch

import (
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/parking"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
)

// Here is which partitions are ours, Dispatcher.parts, and how each ends. As in all files
// but for the exported methods, the mutex is held.

// part is a partition with what this process does about it, for as long as it is
// assigned to us, once. When it is taken away and comes back it is another part: jobs
// of the former keep pointing to the former, whose watermark nobody reads any more, so
// a late completion can't commit for a partition that is no longer ours, nor for one
// that is ours again and reads the same records anew.
//
// It is one object, but for what only a busy one has: a scrape looks at all of them under
// the mutex, and is as slow as its misses of the cache (BenchmarkBacklogs).
type part struct {
	partition.Partition

	queue   *queues.Queue[*Job] // what it feeds, once it has brought something; nil for a retry topic
	running int                 // jobs being worked on

	// closing: nothing starts any more. idle is closed once nothing runs.
	closing bool
	idle    chan struct{}

	// Of retry topics: those that wait until they are due, and how many are due and
	// unfinished.
	parked parking.Lot[*Job]
	aloft  int
}

// signal tells that nothing of the partition runs any more.
func (p *part) signal() {
	if p.closing && p.running == 0 {
		close(p.idle)
	}
}

// Assign makes partitions ours, of which before was finished beyond their
// committed offsets. One that already is ours was lost without a word; its jobs
// no longer count.
func (d *Dispatcher) Assign(added map[string][]int32, before map[partition.Place]offsets.Done) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.each(added, d.close)
	for _, at := range kafka.Partitions(added) {
		p := &part{Partition: partition.New(at, before[at]), idle: make(chan struct{})}
		p.parked = parking.New[*Job](func() { d.wake(p) })
		d.parts[at] = p
		if n := p.AsideKeys(); n > 0 { // what the commit knew of is brought from here on
			d.feed(p).AsideKeys += n
			d.seek(p)
		}
	}
	d.fill()
}

// Identify notes of which topic the records of a partition are. It is called before
// they are taken.
func (d *Dispatcher) Identify(at partition.Place, id offsets.TopicID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.parts[at]; p != nil {
		p.ID = id
	}
}

// Wants reports whether a job that was started is still ours to work on.
func (d *Dispatcher) Wants(j *Job) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ours(j.part.Place) == j.part
}

// Release ends the work on partitions that are about to be taken away: what waits
// is dropped (whoever gets the partition fetches it again), what is in flight
// goes on and still counts. Each channel is closed once nothing of its partition
// is in flight.
func (d *Dispatcher) Release(gone map[string][]int32) []<-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	var idle []<-chan struct{}
	d.each(gone, func(p *part) {
		d.close(p)
		idle = append(idle, p.idle)
	})
	d.fill()
	return idle
}

// Forget ends the assignment of partitions. From here on no completion, however
// late, moves a watermark that is read.
func (d *Dispatcher) Forget(gone map[string][]int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.each(gone, d.forget)
	d.fill()
}

// ForgetTopic ends the assignment of all partitions of a topic.
func (d *Dispatcher) ForgetTopic(topic string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for at, p := range d.parts {
		if at.Topic == topic {
			d.forget(p)
		}
	}
	d.fill()
}

func (d *Dispatcher) forget(p *part) {
	d.close(p)
	delete(d.parts, p.Place)
}

// close lets nothing of p start any more and drops what waits. What waited behind that may
// start then: who calls it fills the slots.
func (d *Dispatcher) close(p *part) {
	if !p.closing {
		p.closing = true
		p.signal()
	}
	ours := func(j *Job) bool { return j.part == p }
	if p.parked.Close() {
		d.Flow.ResumePartition(p.Place)
	}
	if p.Retry {
		p.aloft -= d.queues.DropDue(ours)
		return
	}
	q := p.queue
	if q == nil {
		return
	}
	p.queue = nil
	q.AsideKeys -= p.Away()
	d.queues.Unfeed(q, func(j *Job) bool {
		if ours(j) {
			d.discharge(j)
		}
		return ours(j)
	})
}
