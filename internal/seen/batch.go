package seen

import (
	"iter"
	"time"
)

// Batch is what a transaction adds to a set. It belongs to the goroutine of the set.
type Batch struct {
	set    *Set
	added  table
	bucket int64
	cuts   []cut
}

// cut is an offset before which so many calls were added.
type cut struct {
	n  int
	to int64
}

// Begin returns an empty batch.
func (s *Set) Begin() *Batch { return &Batch{set: s, bucket: s.Bucket()} }

// Set is what the batch adds to.
func (b *Batch) Set() *Set { return b.set }

// Seen adds a call, whose record has an offset and a time stamp, and reports whether it
// was there: in the set, within the horizon, or in the batch. An error is [Set.Err].
func (b *Batch) Seen(fp Fingerprint, offset int64, at time.Time) (bool, error) {
	b.bucket = max(b.bucket, b.set.store.Bucket(at))
	if !b.added.add(fp) {
		return true, nil
	}
	if n := len(b.added.entries); n%cutEvery == 0 {
		b.cuts = append(b.cuts, cut{n, offset + 1})
	}
	known, err := b.set.has(fp, b.bucket)
	if err != nil {
		err = b.set.fail(err)
	}
	return known, err
}

// cutEvery is how many calls a part of a batch has.
const cutEvery = 1 << 12

// Parts are the calls of the batch, up to some thousands at a time, with the offset up to
// which they are; the last is next. They are valid until the batch is dropped.
func (b *Batch) Parts(next int64) iter.Seq2[int64, []Fingerprint] {
	return func(yield func(int64, []Fingerprint) bool) {
		n := 0
		for _, c := range b.cuts {
			if !yield(c.to, b.added.entries[n:c.n]) {
				return
			}
			n = c.n
		}
		yield(next, b.added.entries[n:])
	}
}

// Bucket is the one that the batch is in.
func (b *Batch) Bucket() int64 { return b.bucket }

// Commit puts the batch into its set, which knows all calls below next then, and empties
// it. It waits for no file.
func (b *Batch) Commit(next int64) {
	b.set.Add(next, b.bucket, b.added.entries)
	b.Drop()
}

// Drop empties the batch.
func (b *Batch) Drop() {
	b.added.reset()
	b.cuts = b.cuts[:0]
	b.bucket = b.set.Bucket()
}
