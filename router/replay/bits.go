package replay

import "math/bits"

// offsets are a set of offsets of one partition, from start on, one bit each. Nil is the
// empty set. Sets that are put together have the same start.
type offsets struct {
	start int64
	words []uint64
}

func (o *offsets) set(offset int64) {
	n := offset - o.start
	if grow := int(n/64) + 1 - len(o.words); grow > 0 {
		o.words = append(o.words, make([]uint64, grow)...)
	}
	o.words[n/64] |= 1 << (n % 64)
}

func (o *offsets) has(offset int64) bool {
	if o == nil || offset < o.start {
		return false
	}
	n := offset - o.start
	return n/64 < int64(len(o.words)) && o.words[n/64]&(1<<(n%64)) != 0
}

func (o *offsets) word(i int) uint64 {
	if o == nil || i >= len(o.words) {
		return 0
	}
	return o.words[i]
}

// len is how many there are.
func (o *offsets) len() (n int64) {
	if o == nil {
		return 0
	}
	for _, w := range o.words {
		n += int64(bits.OnesCount64(w))
	}
	return n
}

// and are those in both; nil where one is empty.
func (o *offsets) and(other *offsets) *offsets {
	return o.with(other, func(a, b uint64) uint64 { return a & b })
}

// without are those that are not in the other.
func (o *offsets) without(other *offsets) *offsets {
	return o.with(other, func(a, b uint64) uint64 { return a &^ b })
}

// or are those in any of the two.
func (o *offsets) or(other *offsets) *offsets {
	if o == nil || other != nil && len(other.words) > len(o.words) {
		o, other = other, o
	}
	return o.with(other, func(a, b uint64) uint64 { return a | b })
}

func (o *offsets) with(other *offsets, put func(a, b uint64) uint64) *offsets {
	if o == nil {
		return nil
	}
	both := &offsets{start: o.start, words: make([]uint64, len(o.words))}
	for i := range both.words {
		both.words[i] = put(o.words[i], other.word(i))
	}
	return both
}

// byPartition are sets of offsets.
type byPartition map[int32]*offsets

// of is the set of a partition that may be added to, from start on.
func (b byPartition) of(num int32, start int64) *offsets {
	o := b[num]
	if o == nil {
		o = &offsets{start: start}
		b[num] = o
	}
	return o
}
