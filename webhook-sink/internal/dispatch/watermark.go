package dispatch

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// Watermark is how far a partition is finished: what is committed for it.
type Watermark struct {
	Place
	ID   offsets.TopicID // of the topic whose records these are
	At   kgo.EpochOffset
	Done string // the records finished beyond At, as text

	part     *partition
	revision uint64
}

// watermark returns what is to be committed; false when the broker knows it.
func (p *partition) watermark() (Watermark, bool) {
	revision := p.tracker.Revision() + p.aside.revision
	if revision == p.committed {
		return Watermark{}, false
	}
	offset, epoch, beyond := p.tracker.Mark(p.aside.marks())
	return Watermark{
		Place: p.Place, ID: p.id, part: p, revision: revision,
		At: kgo.EpochOffset{Epoch: epoch, Offset: offset}, Done: beyond.Encode(offset),
	}, true
}

// noteCommitted notes that a watermark was committed.
func (w *Watermark) noteCommitted() { w.part.committed = w.revision }

// Watermarks returns what is finished and not committed, of the named partitions
// or, for nil, of all that are ours.
func (d *Dispatcher) Watermarks(of map[string][]int32) []Watermark {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []Watermark
	note := func(p *partition) {
		if w, dirty := p.watermark(); dirty {
			all = append(all, w)
		}
	}
	if of == nil {
		for _, p := range d.parts {
			note(p)
		}
		return all
	}
	d.each(of, note)
	return all
}

// Holds reports whether the partitions of all watermarks are still ours.
func (d *Dispatcher) Holds(all []Watermark) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range all {
		if d.parts[all[i].Place] != all[i].part {
			return false
		}
	}
	return true
}

// Committed notes that watermarks were committed.
func (d *Dispatcher) Committed(all []Watermark) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range all {
		all[i].noteCommitted()
	}
}
