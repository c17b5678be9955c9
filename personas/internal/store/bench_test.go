package store

import (
	"encoding/binary"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// population is how many users the benchmarks have. What personas.md says of a million is measured with -population 1000000.
var population = flag.Int("population", 100_000, "how many users the benchmarks have")

// memoryOf is what the stores of benchmarks get: -memory 1024 for a gigabyte.
var memoryOf = flag.Int64("memory", 256, "megabytes for a store on disk in benchmarks")

const inBatch = 1000

func benched(b *testing.B, kind, dir string) Store {
	b.Helper()
	if kind == "memory" {
		return NewMemory()
	}
	s, err := Open(Options{Dir: dir, Memory: *memoryOf << 20, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// userName spreads users as ids in use do.
func userName(dst []byte, i int) []byte {
	return fmt.Appendf(dst[:0], "user-%016x", uint64(i)*0x9e3779b97f4a7c15)
}

// record returns 500 to 900 bytes, of which the first ones differ.
func record(dst []byte, r *rand.Rand) []byte {
	dst = dst[:500+r.IntN(400)]
	for i := 0; i < len(dst)-8; i += 16 {
		binary.LittleEndian.PutUint64(dst[i:], r.Uint64())
	}
	return dst
}

// load fills a store as a restore does: batches of about 4 MB, with a timer for every other user.
func load(b *testing.B, s Store, timers bool) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var batch Batch
	var user []byte
	value := make([]byte, 900)
	for i := range *population {
		user = userName(user, i)
		batch.Put(int32(i%8), user, record(value, r))
		if timers && i%2 == 0 {
			batch.SetTimer(int32(i%8), user, noon.Add(time.Duration(r.IntN(30*24*3600))*time.Second))
		}
		if batch.Size() > 4<<20 {
			applyAll(b, s, &batch)
		}
	}
	applyAll(b, s, &batch)
}

func applyAll(b *testing.B, s Store, batch *Batch) {
	b.Helper()
	for p := range int32(8) {
		batch.SetCheckpoint(p, []byte("checkpoint"))
	}
	if err := s.Apply(batch); err != nil {
		b.Fatal(err)
	}
	batch.Reset()
}

// BenchmarkLoad is a restore without its reading; ReportMetric says records a second.
func BenchmarkLoad(b *testing.B) {
	for _, kind := range []string{"memory", "disk"} {
		for _, timers := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/timers=%v", kind, timers), func(b *testing.B) {
				for b.Loop() {
					s := benched(b, kind, b.TempDir())
					load(b, s, timers)
					if err := s.Close(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(*population)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}

// BenchmarkReopen closes a full store and opens it again, up to the first record.
func BenchmarkReopen(b *testing.B) {
	dir := b.TempDir()
	s := benched(b, "disk", dir)
	load(b, s, true)
	for b.Loop() {
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		s = benched(b, "disk", dir)
		if _, ok, err := s.Get(0, userName(nil, 0)); !ok || err != nil {
			b.Fatal(ok, err)
		}
		if _, err := s.Due(0, Timer{}, noon.AddDate(0, 0, 1), 256); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkReadModifyWrite reads and writes one record an operation, in batches of a thousand.
func BenchmarkReadModifyWrite(b *testing.B) {
	for _, kind := range []string{"memory", "disk"} {
		s := benched(b, kind, b.TempDir())
		load(b, s, true)
		for _, distribution := range []string{"uniform", "zipf"} {
			b.Run(kind+"/"+distribution, func(b *testing.B) {
				r := rand.New(rand.NewPCG(3, 4))
				zipf := rand.NewZipf(r, 1.1, 1, uint64(*population-1))
				next := func() int { return r.IntN(*population) }
				if distribution == "zipf" {
					next = func() int { return int(zipf.Uint64()) }
				}
				readModifyWrite(b, s, r, next)
				stats := s.Stats()
				b.ReportMetric(float64(stats.DiskBytes)/float64(*population), "disk-B/user")
				b.ReportMetric(float64(stats.CacheHits)/float64(max(1, stats.CacheHits+stats.CacheMisses)), "hits")
			})
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func readModifyWrite(b *testing.B, s Store, r *rand.Rand, next func() int) {
	b.Helper()
	var batch Batch
	var user []byte
	value := make([]byte, 900)
	seen := make(map[int]bool, inBatch)
	for b.Loop() {
		i := next()
		if !seen[i] { // the overlay of a transaction has it
			seen[i] = true
			user = userName(user, i)
			if _, _, err := s.Get(int32(i%8), user); err != nil {
				b.Fatal(err)
			}
			batch.Put(int32(i%8), user, record(value, r))
		}
		if batch.Len() == inBatch {
			applyAll(b, s, &batch)
			clear(seen)
		}
	}
	applyAll(b, s, &batch)
}

// BenchmarkTimers fires what is due in turns of 256 and sets each again, as the stage does.
func BenchmarkTimers(b *testing.B) {
	for _, kind := range []string{"memory", "disk"} {
		b.Run(kind, func(b *testing.B) {
			s := benched(b, kind, b.TempDir())
			load(b, s, true)
			fired := 0
			var batch Batch
			for b.Loop() {
				if fired > 0 {
					fired--
					continue
				}
				fired = fireTurn(b, s, &batch) - 1
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// fireTurn moves the first timers of a partition by 30 days.
func fireTurn(b *testing.B, s Store, batch *Batch) int {
	b.Helper()
	all, err := s.Due(0, Timer{}, noon.AddDate(100, 0, 0), 256)
	if err != nil || len(all) == 0 {
		b.Fatal(len(all), err)
	}
	for _, timer := range all {
		batch.DeleteTimer(0, timer.User, timer.Due)
		batch.SetTimer(0, timer.User, timer.Due.AddDate(0, 0, 30))
	}
	applyAll(b, s, batch)
	return len(all)
}

// BenchmarkMemoryPerUser says what a record of 23 bytes of user and 1 byte takes in memory beside its own bytes.
func BenchmarkMemoryPerUser(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := NewMemory()
		load(b, s, false)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(*population), "heap-B/user")
		b.ReportMetric(float64(s.Stats().MemoryBytes)/float64(*population), "counted-B/user")
		runtime.KeepAlive(s)
	}
}
