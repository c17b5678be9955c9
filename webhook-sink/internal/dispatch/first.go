package dispatch

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
)

// Here is what a partition feeds into its destination's queue, part.queue: first
// attempts, and of keys that are set aside what a second reader brings. The mutex is held.

// feed returns the queue that a partition feeds.
func (d *Dispatcher) feed(p *part) *queues.Queue[*Job] {
	if p.queue == nil {
		p.queue = d.queueOf(p)
		d.queues.Feed(p.queue, p.Topic)
	}
	return p.queue
}

func (d *Dispatcher) queueOf(p *part) *queues.Queue[*Job] {
	if p.Replay {
		return d.queues.OfReplays(p.Destination)
	}
	return d.queues.Of(p.Destination)
}

// push puts a first attempt into the lane of its key, and on its account.
func (d *Dispatcher) push(q *queues.Queue[*Job], j *Job) {
	j.queue, j.key = q, string(j.Record.Key)
	if j.aside != nil {
		j.aside.Held += j.size
	}
	d.queues.Push(q, j.key, j, j.size, j.aside != nil)
}

// discharge takes a first attempt off its account.
func (d *Dispatcher) discharge(j *Job) {
	if j.aside != nil {
		j.aside.Held -= j.size
	}
	d.queues.Discharge(j.queue, j.size, j.aside != nil)
}

// Reread is a part of a partition that is to be read once more, for keys that are
// set aside.
type Reread struct {
	partition.Place
	From int64

	part *part
}

// kept is how many of a key's waiting events stay in memory, keep bytes of them if
// the rest may be set aside. What was brought from there stays, and what is no longer
// in the log.
func kept(waiting []*Job, keep int) int {
	n, bytes := 0, 0
	for n < len(waiting) && bytes+waiting[n].size <= keep {
		bytes += waiting[n].size
		n++
	}
	last := len(waiting)
	part := waiting[last-1].part
	for last > n && waiting[last-1].aside == nil && waiting[last-1].part == part && waiting[last-1].reading == part.Reading() {
		last--
	}
	if last < len(waiting) && part.MayLeave(waiting[last].Record.Key) {
		return last
	}
	return len(waiting)
}

// setAside lets go of the last events of a key that wait.
func (d *Dispatcher) setAside(rest []*Job) {
	first := rest[0]
	offsets := make([]int64, len(rest))
	for i, j := range rest {
		offsets[i] = j.Record.Offset
		d.discharge(j)
	}
	first.part.SetAside(first.Record, offsets, first.reading)
	first.queue.AsideKeys++
	d.seek(first.part)
}

// seek has more of the keys brought that are away, if there is room for it.
func (d *Dispatcher) seek(p *part) {
	if r := d.sought(p); r != nil {
		d.Reread(r)
	}
}

// sought is the part that is to be read next; nil for none.
func (d *Dispatcher) sought(p *part) *Reread {
	if p.AsideKeys() == 0 || p.closing || d.stopped || d.queues.IsHeld(p.Destination) {
		return nil
	}
	q := d.feed(p)
	from, back, ok := p.Seek(d.queues.Allowance(q))
	q.AsideKeys -= back
	if !ok {
		return nil
	}
	return &Reread{Place: p.Place, From: from, part: p}
}

// Bring takes what was found in a part that was read once more: its records, and the
// offset behind all that was looked at. Records that retention has deleted are lost
// from the part. It returns the next part to read, nil when there is none now.
func (d *Dispatcher) Bring(r *Reread, records []*kgo.Record, next int64) *Reread {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := r.part
	if d.ours(p.Place) != p {
		return nil
	}
	q := d.feed(p)
	p.Bring(r.From, next, records, func(k *partition.Key, r *kgo.Record) bool {
		each, full := d.queues.Allowance(q)
		if k.Held > 0 && (full || k.Held+partition.Size(r) > each) {
			return false
		}
		j := NewJob(r)
		j.part, j.reading, j.aside = p, p.Reading(), k
		d.push(q, j)
		return true
	})
	d.queues.LineUp(q)
	d.fill()
	return d.sought(p)
}
