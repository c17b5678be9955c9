package seen

// table is a set of fingerprints in memory, in the order in which they were added. Its
// entries are only appended to, so that parts of them may be read while it grows.
type table struct {
	entries []Fingerprint
	slots   []uint32 // the place of an entry, and one; 0 is free
}

// fewest is how many slots a table begins with; at least every other one stays free.
const fewest = 64

func (t *table) has(fp Fingerprint) bool {
	if len(t.slots) == 0 {
		return false
	}
	mask := uint64(len(t.slots) - 1)
	for at := fp.lo & mask; ; at = (at + 1) & mask {
		switch n := t.slots[at]; {
		case n == 0:
			return false
		case t.entries[n-1] == fp:
			return true
		}
	}
}

// add adds a fingerprint and reports whether it was not there.
func (t *table) add(fp Fingerprint) bool {
	if t.has(fp) {
		return false
	}
	t.entries = append(t.entries, fp)
	if len(t.slots) < 2*len(t.entries) {
		t.slots = make([]uint32, max(fewest, 2*len(t.slots)))
		for i, known := range t.entries {
			t.place(known, uint32(i+1))
		}
		return true
	}
	t.place(fp, uint32(len(t.entries)))
	return true
}

func (t *table) place(fp Fingerprint, n uint32) {
	mask := uint64(len(t.slots) - 1)
	at := fp.lo & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = n
}

// reset empties the table, whose memory is used again.
func (t *table) reset() {
	t.entries = t.entries[:0]
	clear(t.slots)
}
