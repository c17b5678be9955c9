package limit

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// bucket is the model of a token bucket: whole numbers, in eighths of a token.
// Time goes on by eighths of a second, which floating point counts exactly.
type bucket struct {
	perSecond, size, tokens int
	last                    int // eighths of a second
}

func newBucket(perSecond, size int) *bucket {
	return &bucket{perSecond: perSecond, size: 8 * size, tokens: 8 * size}
}

func (b *bucket) take(n, now int) bool {
	b.tokens = min(b.size, b.tokens+(now-b.last)*b.perSecond)
	b.last = now
	if b.tokens < 8*n {
		return false
	}
	b.tokens -= 8 * n
	return true
}

func at(eighths int) time.Time { return noon.Add(time.Duration(eighths) * time.Second / 8) }

func TestSourcesAgainstAModel(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		perSecond := 1 + random.IntN(6000)
		sources, models, now := NewSources(float64(perSecond)), map[string]*bucket{}, 0
		for range 2000 {
			now += random.IntN(4)
			source := fmt.Sprintf("source-%d", random.IntN(3))
			if models[source] == nil {
				models[source] = newBucket(perSecond, max(perSecond, schemas.MaxBatchEvents))
			}
			n := 1 + random.IntN(schemas.MaxBatchEvents)
			want := models[source].take(n, now)
			wait, got := sources.Take(source, n, at(now))
			if got != want {
				t.Fatalf("seed %d, %d/s: %d of %s at %d: got %v, want %v", seed, perSecond, n, source, now, got, want)
			}
			if got == (wait > 0) {
				t.Fatalf("seed %d: taken %v, wait %v", seed, got, wait)
			}
		}
	}
}

// TestSourcesTellWhenToComeAgain comes again just before the time, and at it.
func TestSourcesTellWhenToComeAgain(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		perSecond, n := 1+random.IntN(4000), 1+random.IntN(schemas.MaxBatchEvents)
		sources := NewSources(float64(perSecond))
		wait, ok := time.Duration(0), true
		for ok {
			wait, ok = sources.Take("s", n, noon)
		}
		if _, ok = sources.Take("s", n, noon.Add(wait-time.Microsecond)); ok {
			t.Errorf("%d at %d/s: passed before the %v were over", n, perSecond, wait)
		}
		if _, ok = sources.Take("s", n, noon.Add(time.Duration(Seconds(wait))*time.Second)); !ok {
			t.Errorf("%d at %d/s: refused once the %d s were over", n, perSecond, Seconds(wait))
		}
	}
}

func TestALargestBatchPassesAtAnyRate(t *testing.T) {
	for _, perSecond := range []float64{0.001, 1, 2500, 1e9, 1e300} {
		if _, ok := NewSources(perSecond).Take("s", schemas.MaxBatchEvents, noon); !ok {
			t.Errorf("refused at %v/s", perSecond)
		}
	}
}

func TestWithoutARateThereIsNoBound(t *testing.T) {
	for _, perSecond := range []float64{0, -1} {
		sources := NewSources(perSecond)
		for range 1000 {
			if wait, ok := sources.Take("s", schemas.MaxBatchEvents, noon); !ok || wait != 0 {
				t.Fatalf("%v/s: refused for %v", perSecond, wait)
			}
		}
	}
}

func TestSourcesTakeNoMoreThanThereIs(t *testing.T) {
	sources := NewSources(5000)
	var taken atomic.Int64
	var takers sync.WaitGroup
	for range 8 {
		takers.Go(func() {
			for range 2000 {
				if _, ok := sources.Take("s", 7, noon); ok {
					taken.Add(7)
				}
			}
		})
	}
	takers.Wait()
	if got := taken.Load(); got != 5000/7*7 {
		t.Errorf("took %d of 5000", got)
	}
}

func TestSeconds(t *testing.T) {
	for wait, want := range map[time.Duration]int{
		0: 1, -time.Second: 1, 1: 1, time.Second: 1, time.Second + 1: 2, 90 * time.Second: 90, 1500 * time.Millisecond: 2,
	} {
		if got := Seconds(wait); got != want {
			t.Errorf("%v: got %d, want %d", wait, got, want)
		}
	}
}

func BenchmarkSourcesTake(b *testing.B) {
	sources := NewSources(1e12)
	b.ReportAllocs()
	for b.Loop() {
		sources.Take("website", 1, noon)
	}
}
