package offsets

import "slices"

// Done is a set of finished records beyond a committed offset. It travels in the
// metadata of the commit, so that whoever reads the partition next passes over
// them. The zero value is empty.
type Done struct {
	// epoch is the highest leader epoch of the records in the set. Should the log
	// lose its tail, the records that take the place of those in the set are of a
	// higher epoch, and are not in it.
	epoch int32
	runs  []run // ascending and apart

	// The rest is about keys that are set aside; see [Aside].
	at        int64 // where it was committed, once it was decoded
	main      int64
	mainEpoch int32
	aside     []Aside
}

// run is the offsets from (inclusive) to to (exclusive). An offset within that is
// no record does no harm.
type run struct{ from, to int64 }

// join puts a run behind all others, or makes one of it and the last where they
// touch.
func join(runs []run, from, to int64) []run {
	if last := len(runs) - 1; last >= 0 && runs[last].to >= from {
		runs[last].to = to
		return runs
	}
	return append(runs, run{from, to})
}

// Empty reports whether nothing is in the set.
func (d Done) Empty() bool { return len(d.runs) == 0 && len(d.aside) == 0 }

// End is behind all records in the set.
func (d Done) End() int64 {
	if len(d.runs) == 0 {
		return 0
	}
	return d.runs[len(d.runs)-1].to
}

// Contains reports whether the record at offset, of a leader epoch, is in the set.
func (d Done) Contains(offset int64, epoch int32) bool {
	if epoch > d.epoch {
		return false
	}
	i, found := slices.BinarySearchFunc(d.runs, offset, func(r run, offset int64) int {
		switch {
		case r.to <= offset:
			return -1
		case r.from > offset:
			return 1
		default:
			return 0
		}
	})
	return found && i < len(d.runs)
}
