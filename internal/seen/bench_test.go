package seen

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// many is a set of so many calls, spread over its buckets, as it is after a restore.
func many(b *testing.B, store *opened, n int) *Set {
	b.Helper()
	set := store.set(b)
	const portion = 1 << 14
	random := rand.New(rand.NewPCG(1, 1))
	part := make([]Fingerprint, portion)
	for from := 0; from < n; from += portion {
		for i := range part {
			part[i] = Fingerprint{random.Uint64(), random.Uint64()}
		}
		if err := set.Load(int64(from), int64(from+portion), int64(from*Buckets/n), part); err != nil {
			b.Fatal(err)
		}
	}
	if err := set.Loaded(); err != nil {
		b.Fatal(err)
	}
	return set
}

// sizes are those of the benchmarks; SEEN_BENCH is another one.
func sizes() []int {
	if n, err := strconv.Atoi(os.Getenv("SEEN_BENCH")); err == nil {
		return []int{n}
	}
	return []int{100_000, 1_000_000}
}

// BenchmarkSeen is a call that is new, or a copy of one that was seen some time before,
// in transactions of 500, with what it takes to remember it. The longest transaction is
// told too: it is what the loop waits for.
func BenchmarkSeen(b *testing.B) {
	for _, n := range sizes() {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			store := openStore(b, b.TempDir(), 24*time.Hour)
			set := many(b, store, n)
			set.tend()
			random := rand.New(rand.NewPCG(2, 2))
			batch, next := set.Begin(), set.Next()
			const size = 500
			var longest time.Duration
			i, began, cpu := 0, time.Now(), processTime()
			for b.Loop() {
				if _, err := batch.bucketed(Buckets).Seen(Fingerprint{random.Uint64(), random.Uint64()}, next, time.Time{}); err != nil {
					b.Fatal(err)
				}
				if next++; i%size == size-1 {
					batch.Commit(next)
					longest = max(longest, time.Since(began))
					began = time.Now()
				}
				i++
			}
			b.ReportMetric(float64((processTime()-cpu).Nanoseconds())/float64(i), "cpu-ns/op")
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
		})
	}
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
				cpu := processTime()
				set := many(b, store, n)
				b.ReportMetric((processTime() - cpu).Seconds(), "cpu-s-loaded")
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

// processTime is the time that the process has had of its processors: others may use them
// too.
func processTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
