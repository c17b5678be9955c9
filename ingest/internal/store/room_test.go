package store

import (
	"math/rand/v2"
	"testing"
)

// left is what nobody has taken.
func (r *room) left() (records, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.records, r.bytes
}

// TestRoom holds the bookkeeping against a list of what was taken.
func TestRoom(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const allRecords, allBytes = 50, 1000
	r := room{records: allRecords, bytes: allBytes}
	type taken struct{ records, bytes int }
	var held []taken
	sum := func() (s taken) {
		for _, h := range held {
			s.records += h.records
			s.bytes += h.bytes
		}
		return s
	}
	refused := 0
	for range 10_000 {
		want := taken{random.IntN(20), random.IntN(400)}
		used := sum()
		fits := used.records+want.records <= allRecords && used.bytes+want.bytes <= allBytes
		if got := r.take(want.records, want.bytes); got != fits {
			t.Fatalf("take %v with %v in use: got %v", want, used, got)
		}
		if fits {
			held = append(held, want)
		} else {
			refused++
		}
		if len(held) > 0 && random.IntN(2) == 0 {
			i := random.IntN(len(held))
			r.give(held[i].records, held[i].bytes)
			held = append(held[:i], held[i+1:]...)
		}
	}
	if refused == 0 || refused == 10_000 {
		t.Fatalf("%d of 10,000 refused: the test shows nothing", refused)
	}
}
