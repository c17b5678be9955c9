package journal

import (
	"encoding/binary"
	"iter"
)

// Calls yields what became of the calls of a router's record, in the order of offsets;
// nothing for a record of a sink. It does not allocate.
func (r *Record) Calls() iter.Seq[Call] {
	return func(yield func(Call) bool) {
		if r.kind != calls {
			return
		}
		offsets, verdicts := walk{left: r.offsets}, walk{left: r.runs}
		behind := r.From
		var v *verdict
		for i := range r.count {
			if offsets.n == 0 {
				behind += int64(offsets.begin())
			}
			if verdicts.n == 0 {
				v = &r.verdicts[verdicts.begin()]
			}
			offsets.n--
			verdicts.n--
			call := Call{
				Offset: behind, Fingerprint: binary.BigEndian.Uint64(r.prints[8*i:]),
				Source: v.source, Result: v.result, Reason: v.reason, Decisions: v.decisions,
			}
			if !yield(call) {
				return
			}
			behind++
		}
	}
}

// walk goes through runs that were checked.
type walk struct {
	left []byte
	n    uint64 // left of the run
}

func (w *walk) begin() uint64 {
	first, size := binary.Uvarint(w.left)
	n, more := binary.Uvarint(w.left[size:])
	w.left, w.n = w.left[size+more:], n
	return first
}

// Attempts yields how records ended, of a sink's record, in the order in which they did;
// nothing for a record of a router. It does not allocate.
func (r *Record) Attempts() iter.Seq[Attempt] {
	return func(yield func(Attempt) bool) {
		if r.kind != attempts {
			return
		}
		c := cursor{reader: &reader{left: r.entries}}
		c.begin(r)
		for range r.count {
			if !yield(c.next(r)) {
				return
			}
		}
	}
}
