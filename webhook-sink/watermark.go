package webhooksink

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// watermark is how far a partition is finished: what is committed for it.
type watermark struct {
	part     *partition
	tracker  *offsets.Tracker
	revision uint64
	at       kgo.EpochOffset
	done     string // the records finished beyond at, as metadata of the commit
}

// watermark returns what is to be committed; false when the broker knows it.
func (p *partition) watermark() (watermark, bool) {
	revision := p.tracker.Revision()
	if revision == p.committed {
		return watermark{}, false
	}
	offset, epoch := p.tracker.Position()
	return watermark{
		part: p, tracker: p.tracker, revision: revision,
		at: kgo.EpochOffset{Epoch: epoch, Offset: offset}, done: p.tracker.Done().Encode(offset),
	}, true
}

// noteCommitted notes that a watermark was committed.
func (w *watermark) noteCommitted() {
	if w.part.tracker == w.tracker {
		w.part.committed = w.revision
	}
}

// watermarks returns what is finished and not committed, of the named partitions
// or, for nil, of all that are ours.
func (d *dispatcher) watermarks(of map[string][]int32) []watermark {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []watermark
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

// holds reports whether the partitions of all watermarks are still ours.
func (d *dispatcher) holds(all []watermark) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range all {
		if d.parts[all[i].part.place] != all[i].part {
			return false
		}
	}
	return true
}

// committed notes that watermarks were committed.
func (d *dispatcher) committed(all []watermark) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range all {
		all[i].noteCommitted()
	}
}
