package seen

import (
	"iter"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/testkit"
)

// past are the calls that a set of the benchmarks knows, in portions, from the first on.
func past(n int) iter.Seq2[int, []Fingerprint] {
	return func(yield func(int, []Fingerprint) bool) {
		const portion = 1 << 14
		random := rand.New(rand.NewPCG(1, 1))
		part := make([]Fingerprint, portion)
		for from := 0; from < n; from += portion {
			for i := range part {
				part[i] = Fingerprint{random.Uint64(), random.Uint64()}
			}
			if !yield(from, part) {
				return
			}
		}
	}
}

// many is a set of so many calls, spread over its buckets, as it is after a restore.
func many(b *testing.B, store *opened, n int) *Set {
	b.Helper()
	set := store.set(b)
	for from, part := range past(n) {
		if err := set.Load(int64(from), int64(from+len(part)), int64(from*Buckets/n), part); err != nil {
			b.Fatal(err)
		}
	}
	if err := set.Loaded(); err != nil {
		b.Fatal(err)
	}
	return set
}

// some are up to a million of the calls that a set of so many knows, from all of its buckets.
func some(n int) (calls []Fingerprint) {
	every := n>>20 + 1
	for from, part := range past(n) {
		for i := range part {
			if (from+i)%every == 0 {
				calls = append(calls, part[i])
			}
		}
	}
	rand.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	return calls
}

// sizes are those of the benchmarks; SEEN_BENCH is another one.
func sizes() []int {
	if n, err := strconv.Atoi(os.Getenv("SEEN_BENCH")); err == nil {
		return []int{n}
	}
	return []int{100_000, 1_000_000}
}

// BenchmarkSeen is a call that is new, or for every fourth a copy of one that was seen some
// time before, in transactions of 500, with what it takes to remember it. Buckets follow on
// one another, so that runs are merged and expire meanwhile. The longest transaction is told
// too: it is what the loop waits for.
func BenchmarkSeen(b *testing.B) {
	for _, n := range sizes() {
		b.Run(strconv.Itoa(n), func(b *testing.B) { seen(b, n) })
	}
}

func seen(b *testing.B, n int) {
	b.Helper()
	const size = 500
	store := openStore(b, b.TempDir(), 24*time.Hour)
	set, copies := many(b, store, n), some(n)
	set.tend()
	random := rand.New(rand.NewPCG(2, 2))
	batch, next := set.Begin(), set.Next()
	var longest time.Duration
	i, found, began, cpu := 0, 0, time.Now(), testkit.CPU(b)
	for b.Loop() {
		fp := Fingerprint{random.Uint64(), random.Uint64()}
		if i%4 == 3 {
			fp = copies[i/4%len(copies)]
		}
		known, err := batch.bucketed(Buckets+int64(i*Buckets/n)).Seen(fp, next, time.Time{})
		if err != nil {
			b.Fatal(err)
		}
		if known {
			found++
		}
		if next++; i%size == size-1 {
			batch.Commit(next)
			longest = max(longest, time.Since(began))
			began = time.Now()
		}
		i++
	}
	b.ReportMetric(float64((testkit.CPU(b)-cpu).Nanoseconds())/float64(i), "cpu-ns/op")
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
	b.ReportMetric(100*float64(found)/float64(i), "%copies")
	all, _ := set.counts()
	b.ReportMetric(float64(all), "remembered")
}

// BenchmarkLoad is a cold start, by calls; what the set holds of each is told too.
func BenchmarkLoad(b *testing.B) {
	for _, n := range sizes() {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				store := openStore(b, b.TempDir(), 24*time.Hour)
				cpu := testkit.CPU(b)
				set := many(b, store, n)
				b.ReportMetric((testkit.CPU(b) - cpu).Seconds(), "cpu-s-loaded")
				set.tend()
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/call")
				set.Close()
				store.close()
			}
		})
	}
}

// BenchmarkOpen is a warm start.
func BenchmarkOpen(b *testing.B) {
	for _, n := range sizes() {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := b.TempDir()
			store := openStore(b, dir, 24*time.Hour)
			set := many(b, store, n)
			set.tend()
			set.Close()
			store.close()
			for b.Loop() {
				store := openStore(b, dir, 24*time.Hour)
				store.set(b)
				store.close()
			}
		})
	}
}
