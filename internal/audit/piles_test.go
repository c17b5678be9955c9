package audit

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
)

// TestPiles: what is put aside comes back, each event's facts together, and leaves no file.
func TestPiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const chunk = 2_000 // more of a pile than memory has
	random := rand.New(rand.NewPCG(1, 2))
	p := newPiles()
	defer p.Close()
	var all []fact
	for range 5 * chunk {
		// Of few piles and few events, so that both overflow.
		f := fact{
			fingerprint: random.Uint64N(3)<<62 | random.Uint64N(chunk), destination: uint16(random.IntN(3)), kind: kind(random.IntN(int(dead) + 1)),
			at: place{uint16(random.Uint32()), uint16(random.Uint32()), random.Int64()}, to: uint16(random.Uint32()), source: uint16(random.Uint32()),
			number: uint8(random.Uint32()), asked: random.IntN(2) == 0, fresh: random.IntN(2) == 0, when: random.Uint32(),
		}
		all = append(all, f)
		if err := p.add(f); err != nil {
			t.Fatal(err)
		}
	}
	if p.Aside() == 0 {
		t.Fatal("nothing was put aside")
	}
	var got []fact
	if err := p.each(func(group []fact) {
		for i := range group {
			if !sameGroup(&group[0], &group[i]) || len(got) > 0 && i == 0 && sameGroup(&group[0], &got[len(got)-1]) {
				t.Fatal("a group is not about one event at one destination, or not all of it")
			}
		}
		got = append(got, group...)
	}); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, compareFacts)
	if diff := cmp.Diff(all, got, cmp.AllowUnexported(fact{}, place{})); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

// TestWhatTheJournalCovers compares ranges that are joined with a bit for each offset.
func TestWhatTheJournalCovers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		c := newCalls(ranges.Range{Start: 10, End: 110}, 0)
		var want [200]bool
		for range random.IntN(12) {
			from := random.Int64N(150)
			of := ranges.Range{Start: from, End: from + random.Int64N(30)}
			c.cover(of)
			for o := of.Start; o < of.End; o++ {
				want[o] = want[o] || c.has(o)
			}
		}
		for o := range want {
			if got := c.covers(int64(o)); got != want[o] {
				t.Fatalf("offset %d is covered: %t, want %t: %v", o, got, want[o], c.covered)
			}
		}
	}
}
