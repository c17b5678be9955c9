package partition

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

	of       *Partition
	revision uint64
}

// Watermark returns what is to be committed; false when the broker knows it.
func (p *Partition) Watermark() (Watermark, bool) {
	revision := p.tracker.Revision() + p.aside.revision
	if revision == p.committed {
		return Watermark{}, false
	}
	offset, epoch, beyond := p.tracker.Mark(p.aside.marks())
	return Watermark{
		Place: p.Place, ID: p.ID, of: p, revision: revision,
		At: kgo.EpochOffset{Epoch: epoch, Offset: offset}, Done: beyond.Encode(offset),
	}, true
}

// IsOf reports whether the watermark is of this assignment of the partition.
func (w *Watermark) IsOf(p *Partition) bool { return w.of == p }

// NoteCommitted notes that the watermark was committed.
func (w *Watermark) NoteCommitted() { w.of.committed = w.revision }
