package engine

import "math/bits"

// marks is a set of small numbers.
type marks []uint64

func newMarks(n int) marks { return make(marks, (n+63)/64) }

func (m marks) set(i int) { m[i/64] |= 1 << (i % 64) }

func (m marks) add(other marks) {
	for i, word := range other {
		m[i] |= word
	}
}

func (m marks) empty() bool {
	for _, word := range m {
		if word != 0 {
			return false
		}
	}
	return true
}

// each calls visit for each number, ascending.
func (m marks) each(visit func(i int)) {
	for i, word := range m {
		for ; word != 0; word &= word - 1 {
			visit(i*64 + bits.TrailingZeros64(word))
		}
	}
}
