package offsets

import (
	"cmp"
	"slices"
)

// MaxAside is how many keys of a partition may be set aside: their place in the
// metadata of a commit is about half of it.
const MaxAside = 64

// Aside is a key whose records are not followed one by one: they finish in order,
// so one offset tells how far. Those of it below From are finished, or followed
// like any other record; the others are not finished, whatever a [Done] contains.
type Aside struct {
	Key   uint64 // its [Fingerprint]
	From  int64
	Count int64 // about how many of its records are not finished
}

// Fingerprint stands for a record's key in the metadata of a commit (FNV-1a): the
// keys are people's ids, and too long. Two keys of one fingerprint are set aside
// together.
func Fingerprint(key []byte) uint64 {
	sum := uint64(14695981039346656037)
	for _, b := range key {
		sum = (sum ^ uint64(b)) * 1099511628211
	}
	return sum
}

// WithAside returns the set with keys that are set aside, for a commit at the lowest
// offset that is not finished. Everything else is finished below main, whose epoch is
// that of the record before it.
func (d Done) WithAside(main int64, epoch int32, keys []Aside) Done {
	d.main, d.mainEpoch, d.aside = main, epoch, keys
	return d
}

// Aside returns the keys that are set aside.
func (d Done) Aside() []Aside { return d.aside }

// Resume is where to go on reading what is not set aside, with the leader epoch of
// the record before it, -1 when that is not known; false when that is where it was
// committed, as it is when no key is set aside, or when it was not committed there.
func (d Done) Resume(committed int64) (offset int64, epoch int32, ok bool) {
	return d.main, d.mainEpoch, len(d.aside) > 0 && d.at == committed
}

// ContainsKey is [Done.Contains] for a record of which the key is known: it knows of
// keys that are set aside, and of all that stands before what is followed.
func (d Done) ContainsKey(key []byte, offset int64, epoch int32) bool {
	if len(d.aside) == 0 {
		return d.Contains(offset, epoch)
	}
	fingerprint := Fingerprint(key)
	for _, a := range d.aside {
		if a.Key == fingerprint && offset >= a.From {
			return false
		}
	}
	return offset < d.main && epoch <= max(d.epoch, d.mainEpoch) || d.Contains(offset, epoch)
}

// lowest is the offset at which such a set is committed.
func lowest(main int64, keys []Aside) int64 {
	for _, a := range keys {
		main = min(main, a.From)
	}
	return main
}

// Mark is where to commit when records are finished as the tracker knows and keys
// are set aside, with the set of what is finished beyond. The epoch is -1 when it is
// not known.
func (t *Tracker) Mark(keys []Aside) (offset int64, epoch int32, beyond Done) {
	main, epoch := t.Position()
	beyond = t.Done()
	if len(keys) == 0 {
		return main, epoch, beyond
	}
	keys = slices.SortedFunc(slices.Values(keys), func(a, b Aside) int { return cmp.Compare(a.From, b.From) })
	offset = lowest(main, keys)
	beyond = beyond.WithAside(main, epoch, keys)
	if offset < main {
		epoch = -1
	}
	return offset, epoch, beyond
}
