package regulation

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// TestSuppressedAgainstAMap changes a set at random and compares it with a plain
// map of ids.
func TestSuppressedAgainstAMap(t *testing.T) {
	t.Parallel()
	var s Suppressed
	want := make(map[string]bool)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		id := strconv.Itoa(r.IntN(500))
		suppressed := r.IntN(3) > 0
		s.set(alias{hash: hashOf([]byte(id))}, suppressed)
		if suppressed {
			want[id] = true
		} else {
			delete(want, id)
		}
		other := strconv.Itoa(r.IntN(600))
		if s.Has([]byte(other)) != want[other] || s.Len() != len(want) {
			t.Fatalf("%s: got %v of %d, want %v of %d", other, s.Has([]byte(other)), s.Len(), want[other], len(want))
		}
	}
}

func TestSuppressedFromManyGoroutines(t *testing.T) {
	t.Parallel()
	var s Suppressed
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 500 {
				id := fmt.Appendf(nil, "%d-%d", g, i)
				s.set(alias{hash: hashOf(id)}, true)
				if !s.Has(id) {
					t.Errorf("%s is not there", id)
				}
				s.set(alias{hash: hashOf(id)}, i%2 == 0)
			}
		})
	}
	group.Wait()
	if s.Len() != 8*250 {
		t.Errorf("%d users are left, want %d", s.Len(), 8*250)
	}
}

func TestSuppressedAllocatesNothing(t *testing.T) {
	var s Suppressed
	s.set(alias{hash: hashOf([]byte("somebody"))}, true)
	id := []byte("somebody else")
	if n := testing.AllocsPerRun(1000, func() { s.Has(id) }); n != 0 {
		t.Errorf("a look-up allocates %v times", n)
	}
}

func TestParseHash(t *testing.T) {
	t.Parallel()
	h := hashOf([]byte("u1"))
	if got, ok := parseHash(h.String()); !ok || got != h {
		t.Errorf("%s is not read back", h)
	}
	for _, text := range []string{"", h.String()[1:], h.String() + "0", "z" + h.String()[1:]} {
		if _, ok := parseHash(text); ok {
			t.Errorf("%q is taken for a hash", text)
		}
	}
}

func BenchmarkSuppressed(b *testing.B) {
	id := []byte("019mr8mf4r")
	for _, users := range []int{0, 1, 500_000} {
		b.Run(strconv.Itoa(users), func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var s Suppressed
			for i := range users {
				s.set(alias{hash: hashOf(strconv.AppendInt(nil, int64(i), 10))}, true)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportAllocs()
			for b.Loop() {
				s.Has(id)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(max(users, 1)), "B/user")
		})
	}
}
