package queues

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFifo holds it against a slice.
func TestFifo(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var f FIFO[*int]
	var expected []*int
	for n := range 10_000 {
		switch k := random.IntN(20); {
		case k < 10+n/1000%5-2: // it grows and shrinks
			f.Push(&n)
			expected = append(expected, &n)
		case k < 19 && len(expected) > 0:
			if got := f.Pop(); got != expected[0] {
				t.Fatalf("popped %d, expected %d", *got, *expected[0])
			}
			expected = expected[1:]
		case k == 19:
			odd := func(p *int) bool { return *p%13 == 0 }
			f.Remove(odd)
			expected = slices.DeleteFunc(expected, odd)
		}
		if f.Len() != len(expected) {
			t.Fatalf("%d items, expected %d", f.Len(), len(expected))
		}
	}
	for _, p := range f.items[:f.head] {
		if p != nil {
			t.Fatalf("%d is kept alive", *p)
		}
	}
}

func TestAFifoAllocatesNothingForAFewThatComeAndGo(t *testing.T) {
	var f FIFO[int]
	for range 10 {
		f.Push(1)
	}
	allocs := testing.AllocsPerRun(10, func() {
		for range 1000 {
			f.Push(1)
			f.Pop()
		}
	})
	if allocs != 0 {
		t.Errorf("%.0f allocations in a thousand rounds", allocs)
	}
}
