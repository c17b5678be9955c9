package dispatch

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// Here is what the loop, the commits and the metrics ask of partitions, each under the
// mutex. What is known is the partitions' own.

// Read notes how far a fetch has come; see [partition.Partition.Read]. It is called
// after the jobs of the fetch were taken.
func (d *Dispatcher) Read(at partition.Place, next int64, epoch int32, end int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.ours(at); p != nil && p.Read(next, epoch, end) {
		d.Tell()
	}
}

// Look notes what somebody has looked up; see [partition.Partition.Look]. Of a partition
// that is not ours it says nothing.
func (d *Dispatcher) Look(at partition.Place, begin, end int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.parts[at]; p != nil && !p.closing {
		p.Look(begin, end)
	}
}

// Resume is where to go on reading a partition that was committed at an offset, if
// that is elsewhere.
func (d *Dispatcher) Resume(at partition.Place, committed int64) (kgo.EpochOffset, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.parts[at]; p != nil {
		return p.Resume(committed)
	}
	return kgo.EpochOffset{}, false
}

// Progress returns how far each partition is that is ours.
func (d *Dispatcher) Progress() []partition.Progress {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]partition.Progress, 0, len(d.parts))
	for _, p := range d.parts {
		// Its topic may be paused for what other partitions have brought.
		paused := p.parked.IsPaused() || d.queues.IsPaused(p.Destination, p.Replay)
		all = append(all, p.Progress(paused, paused || p.closing))
	}
	return all
}

// Watermarks returns what is finished and not committed, of the named partitions
// or, for nil, of all that are ours.
func (d *Dispatcher) Watermarks(of map[string][]int32) []partition.Watermark {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []partition.Watermark
	note := func(p *part) {
		if w, dirty := p.Watermark(); dirty {
			all = append(all, w)
		}
	}
	if of != nil {
		d.each(of, note)
		return all
	}
	for _, p := range d.parts {
		note(p)
	}
	return all
}

// Holds reports whether the partitions of all watermarks are still ours.
func (d *Dispatcher) Holds(all []partition.Watermark) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !slices.ContainsFunc(all, func(w partition.Watermark) bool {
		p := d.parts[w.Place]
		return p == nil || !w.IsOf(&p.Partition)
	})
}

// Committed notes that watermarks were committed.
func (d *Dispatcher) Committed(all []partition.Watermark) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range all {
		all[i].NoteCommitted()
	}
}
