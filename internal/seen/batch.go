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

	// Of the calls that were looked at last.
	known []bool
	asked []question
}

// Call is one that is looked at: what stands for it, and its record's offset and time stamp.
type Call struct {
	Fingerprint

	Offset int64
	At     time.Time
}

// question is whether a set has the fingerprint of the call with a number.
type question struct {
	Fingerprint

	call int
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

// Look adds calls in the order of their offsets, and reports of each whether it was there: in
// the set, within the horizon, or in the batch. What it returns is valid until the next call.
// An error is [Set.Err]. Many calls at once take much less time than one by one.
func (b *Batch) Look(calls []Call) (known []bool, err error) {
	b.known, b.asked = append(b.known[:0], make([]bool, len(calls))...), b.asked[:0]
	for i := range calls {
		c := &calls[i]
		if bucket := b.set.store.Bucket(c.At); bucket > b.bucket {
			if err = b.ask(); err != nil {
				return nil, err
			}
			b.bucket = bucket
		}
		if !b.added.add(c.Fingerprint) {
			b.known[i] = true
			continue
		}
		if n := len(b.added.entries); n%cutEvery == 0 {
			b.cuts = append(b.cuts, cut{n, c.Offset + 1})
		}
		b.asked = append(b.asked, question{c.Fingerprint, i})
	}
	return b.known, b.ask()
}

// ask answers the questions there are, all of them of the present bucket.
func (b *Batch) ask() error {
	err := b.set.answer(b.asked, b.bucket, b.known)
	if err != nil {
		err = b.set.fail(err)
	}
	b.asked = b.asked[:0]
	return err
}

// Seen looks at one call.
func (b *Batch) Seen(fp Fingerprint, offset int64, at time.Time) (bool, error) {
	known, err := b.Look([]Call{{fp, offset, at}})
	return err == nil && known[0], err
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
