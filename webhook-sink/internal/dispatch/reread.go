package dispatch

import (
	"math"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// Reread is a part of a partition that is to be read once more, for keys that are
// set aside.
type Reread struct {
	Place
	From int64

	part *partition
}

// relieve sets keys aside when more waits than the destination may have in memory,
// and a few of its keys hold much of it: they are not what the others wait for.
func (d *Dispatcher) relieve(q *queue) {
	high, _ := d.marks(q)
	if q.bytes <= high {
		return
	}
	keep := q.speed.Keep(high, d.fetchWait)
	q.lanes.Trim(func(waiting []*Job) int { return kept(waiting, keep) }, d.setAside)
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
	for last > n && waiting[last-1].aside == nil && waiting[last-1].part == part && waiting[last-1].reading == part.tracker.Reading() {
		last--
	}
	if last < len(waiting) && part.aside.room(waiting[last].Record.Key) {
		return last
	}
	return len(waiting)
}

// setAside lets go of the last events of a key that wait.
func (d *Dispatcher) setAside(rest []*Job) {
	first := rest[0]
	p, fingerprint := first.part, offsets.Fingerprint(first.Record.Key)
	k := p.aside.keys[fingerprint]
	if k == nil {
		k = &asideKey{}
		p.aside.add(fingerprint, k)
	}
	k.away, k.since, k.next = true, first.Record.Offset, first.Record.Offset
	first.queue.asideKeys++
	if len(k.brought) == 0 {
		k.taken = p.taken(first)
	}
	for _, j := range rest {
		k.skip(j)
		d.discharge(j)
	}
	p.aside.revision++
	d.seek(p)
}

// Resume is where to go on reading a partition that was committed at an offset, if
// that is elsewhere: keys that were set aside hold the commit back.
func (d *Dispatcher) Resume(at Place, committed int64) (kgo.EpochOffset, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.parts[at]
	if p == nil {
		return kgo.EpochOffset{}, false
	}
	offset, epoch, ok := p.tracker.Resume(committed)
	return kgo.EpochOffset{Epoch: epoch, Offset: offset}, ok
}

// remember takes up the keys that were set aside before the partition was ours.
func (d *Dispatcher) remember(p *partition) {
	if len(p.aside.keys) == 0 {
		return
	}
	d.feed(p).asideKeys += len(p.aside.keys)
	d.seek(p)
}

// forgetAside drops the keys of a partition that is no longer ours.
func (d *Dispatcher) forgetAside(p *partition) {
	for _, k := range p.aside.keys {
		if k.away {
			p.queue.asideKeys--
		}
	}
}

// seek has more of the keys brought that are away, if there is room for it.
func (d *Dispatcher) seek(p *partition) {
	if r := d.sought(p); r != nil {
		d.reread(r)
	}
}

// sought is the part that is to be read next; nil for none. It begins where the first
// of the keys needs it of which little is left in memory.
func (d *Dispatcher) sought(p *partition) *Reread {
	if len(p.aside.keys) == 0 || p.aside.reading || p.closing || d.stopped {
		return nil
	}
	allowed, full := d.allowance(d.feed(p))
	d.welcome(p)
	read, _ := p.tracker.Next()
	from := int64(math.MaxInt64)
	for _, k := range p.aside.keys {
		if k.away && k.next < read && (k.held == 0 || !full && k.held < allowed/2) {
			from = min(from, k.next)
		}
	}
	if from == math.MaxInt64 {
		return nil
	}
	p.aside.reading = true
	return &Reread{Place: p.Place, From: from, part: p}
}

// allowance is how many bytes of one key that is away may be in memory, and whether
// all of them together have reached their limit. A key may have one event all the
// same.
func (d *Dispatcher) allowance(q *queue) (each int, full bool) {
	high, _ := d.marks(q)
	return high / 2 / max(q.asideKeys, 1), q.asideBytes >= high
}

// Bring takes what was found in a part that was read once more: its records, and the
// offset behind all that was looked at. Records that retention has deleted are lost
// from the part. It returns the next part to read, nil when there is none now.
func (d *Dispatcher) Bring(r *Reread, records []*kgo.Record, next int64) *Reread {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := r.part
	if p.closing || d.stopped || d.parts[p.Place] != p {
		return nil
	}
	p.aside.reading = false
	d.bring(p, r.From, records, next)
	d.lineUp(p.queue)
	d.fill()
	return d.sought(p)
}

func (d *Dispatcher) bring(p *partition, from int64, records []*kgo.Record, next int64) {
	q := d.feed(p)
	read, _ := p.tracker.Next()
	end := min(next, read) // what is beyond will be read by the way
	for _, k := range p.aside.keys {
		k.reached = k.away && k.next >= from
	}
	for _, r := range records {
		if k := p.aside.of(r.Key); k != nil && k.reached && r.Offset >= k.next && r.Offset < end {
			d.bringOne(p, q, k, r)
		}
	}
	for _, k := range p.aside.keys {
		if k.reached {
			k.next = max(k.next, end)
		}
	}
	p.aside.revision++
}

// welcome has keys back of which all was brought.
func (d *Dispatcher) welcome(p *partition) {
	read, _ := p.tracker.Next()
	for _, k := range p.aside.keys {
		if k.away && k.next >= read && read >= p.aside.until {
			k.away, k.skipped = false, 0
			p.queue.asideKeys--
			p.aside.revision++
		}
	}
	p.aside.tidy()
}

// bringOne puts a record behind those of its key, or notes that there is no room for
// it now.
func (d *Dispatcher) bringOne(p *partition, q *queue, k *asideKey, r *kgo.Record) {
	allowed, full := d.allowance(q)
	size := sizeOf(r)
	if k.held > 0 && (full || k.held+size > allowed) {
		k.reached, k.next = false, r.Offset
		return
	}
	j := NewJob(r)
	j.part, j.reading, j.aside = p, p.tracker.Reading(), k
	k.next, k.skipped = r.Offset+1, max(k.skipped-1, 0)
	k.brought = append(k.brought, brought{r.Offset, p.taken(j)})
	k.taken = k.brought[0].taken
	d.push(q, j)
}
