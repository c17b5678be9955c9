package personas

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/emit"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/enginetest"
	"github.com/anabranch/anabranch/personas/internal/store"
	"github.com/anabranch/anabranch/personas/internal/users"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

const (
	shards        = 8
	inTransaction = 5000
)

// resident is the memory of the process that is in use, in MiB.
func resident(tb testing.TB) float64 {
	tb.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0 // elsewhere than on Linux nobody knows
	}
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		tb.Fatal(err)
	}
	return float64(pages*os.Getpagesize()) / (1 << 20)
}

// userName spreads users as ids in use do.
func userName(i int) string { return fmt.Sprintf("user-%016x", uint64(i)*0x9e3779b97f4a7c15) }

// folding is what the stage does between the broker's records and the broker's answers.
type folding struct {
	c     *catalogue
	store store.Store
	users [shards]*users.Users
	metas [shards]changelog.Checkpoint
	batch store.Batch
	call  engine.Call
	n     int // records of the transaction
	told  int
	bytes int // written to the changelog
}

func newFolding(tb testing.TB, definitions int, s store.Store, cached int) *folding {
	tb.Helper()
	d := enginetest.Shop(definitions)
	c, err := compile(&d, nil)
	if err != nil {
		tb.Fatal(err)
	}
	f := &folding{c: c, store: s}
	for num := range f.users {
		f.users[num] = users.New(int32(num), s)
		f.users[num].Keep(cached / shards)
		f.users[num].Use(c.Catalogue)
		f.metas[num].Leaves, f.metas[num].Catalogue = c.Leaves(), c.print
	}
	return f
}

func (f *folding) take(tb testing.TB, rec *kgo.Record) {
	tb.Helper()
	h, err := kafka.HeadersOf(rec)
	if err != nil {
		tb.Fatal(err)
	}
	if err = engine.ParseCall(&f.call, rec.Value, &h, rec.Timestamp); err != nil {
		tb.Fatal(err)
	}
	num := int(rec.Partition)
	user, err := f.users[num].Get(string([]byte(f.call.UserID)))
	if err != nil {
		tb.Fatal(err)
	}
	changes := f.c.Take(user.Profile, &f.call, rec.Timestamp, f.metas[num].Ready)
	for i := range changes {
		f.told += len(emit.Records(emit.User{ID: user.ID}, &changes[i], f.c.tell[computation{changes[i].Class, changes[i].Key}]))
	}
	if f.n++; f.n == inTransaction {
		f.commit(tb)
	}
}

func (f *folding) commit(tb testing.TB) {
	tb.Helper()
	for num, of := range f.users {
		of.Changed(func(id string, state []byte) { f.bytes += len(changelog.User(int32(num), id, state).Value) })
		f.bytes += len(f.metas[num].Record(int32(num)).Value)
		of.Commit(&f.batch)
		f.batch.SetCheckpoint(int32(num), f.metas[num].Encode())
	}
	if err := f.store.Apply(&f.batch); err != nil {
		tb.Fatal(err)
	}
	f.batch.Reset()
	f.n = 0
}

// history is a user's calls of 90 days.
func history(tb testing.TB, c *catalogue, user string, calls int, now time.Time) []byte {
	tb.Helper()
	var call engine.Call
	p := c.NewProfile()
	for i := range calls {
		at := now.Add(-90 * 24 * time.Hour * time.Duration(calls-i) / time.Duration(calls))
		if err := engine.ParseCall(&call, enginetest.Visit(i*5, user, at), enginetest.VisitHeaders, at); err != nil {
			tb.Fatal(err)
		}
		c.Take(p, &call, at, nil)
	}
	c.Advance(p, now, nil, engine.CauseTimer)
	return p.Append(nil)
}

// populate gives every user a state of 20 calls.
func (f *folding) populate(tb testing.TB, n int, now time.Time) {
	tb.Helper()
	state := history(tb, f.c, "user", 20, now)
	due := now.Add(24 * time.Hour)
	for i := range n {
		id := []byte(userName(i))
		f.batch.Put(int32(i%shards), id, state)
		f.batch.SetTimer(int32(i%shards), id, due.Add(time.Duration(i)*time.Second))
		if f.batch.Size() > 4<<20 || i == n-1 {
			for num := range int32(shards) {
				f.batch.SetCheckpoint(num, f.metas[num].Encode())
			}
			if err := f.store.Apply(&f.batch); err != nil {
				tb.Fatal(err)
			}
			f.batch.Reset()
		}
	}
	testkit.Until(tb, func() bool { return f.store.Stats().CompactionDebt == 0 }, "the files to be in order")
}

// visits are records of calls, of which put says who made each, and when.
type visits struct {
	kinds [6]*kgo.Record
	at    [6]int // where the user's name stands
	then  [6]int // and the time
}

func newVisits(event string, now time.Time) *visits {
	v := new(visits)
	for i := range v.kinds {
		value := enginetest.Visit(i, userName(0), now)
		if event != "" {
			value = bytes.Replace(value, fmt.Appendf(nil, "Event %d", i), []byte(event), 1)
		}
		rec := &kgo.Record{Topic: schemas.TopicRawEvents, Value: value}
		kafka.SetHeaders(rec, enginetest.VisitHeaders)
		v.kinds[i] = rec
		v.at[i] = bytes.Index(value, []byte(userName(0)))
		v.then[i] = bytes.Index(value, []byte(`"timestamp":"`)) + len(`"timestamp":"`)
	}
	return v
}

func (v *visits) put(kind, user int, at time.Time) *kgo.Record {
	rec := v.kinds[kind]
	copy(rec.Value[v.at[kind]:], userName(user))
	copy(rec.Value[v.then[kind]:], at.UTC().Format(schemas.TimeLayout))
	rec.Partition, rec.Timestamp = int32(user%shards), at
	return rec
}

// BenchmarkFold is what a call costs the stage beside what the broker's client costs it:
// from the record to the calls that tell what changed, the changelog's record and the
// store. Calls are of users at random, one of each on average, however many there are: of a
// second one less is new, and what the collector takes is in proportion to what users do.
func BenchmarkFold(b *testing.B) {
	for _, kind := range []string{storeMemory, storePebble} {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			for _, definitions := range []int{20, 200} {
				if n != 100_000 && definitions != 20 {
					continue
				}
				b.Run(fmt.Sprintf("store=%s/users=%d/audiences=%d", kind, n, definitions), func(b *testing.B) { benchFold(b, kind, n, definitions, "") })
			}
		}
		b.Run(fmt.Sprintf("store=%s/users=100000/audiences=20/other", kind), func(b *testing.B) { benchFold(b, kind, 100_000, 20, "Another") })
	}
}

// benchFold measures as many populations of n users as make up 200,000 calls, one at least.
func benchFold(b *testing.B, kind string, n, definitions int, event string) {
	b.Helper()
	var all cost
	for b.Loop() {
		for all = (cost{}); all.calls < 200_000; {
			all.fold(b, kind, n, definitions, event)
		}
	}
	calls := float64(all.calls)
	b.ReportMetric(0, "ns/op") // an op is all of it
	b.ReportMetric(calls/all.took.Seconds(), "events/s")
	b.ReportMetric(float64(all.cpu.Microseconds())/calls, "cpu-µs/event")
	b.ReportMetric(float64(all.allocated)/calls, "alloc-B/event")
	b.ReportMetric(float64(all.changelog)/calls, "changelog-B/event")
	b.ReportMetric(float64(all.told)/calls, "told/event")
	b.ReportMetric(float64(all.heap)/float64(n), "heap-B/user")
	b.ReportMetric(all.resident, "resident-MiB")
}

// cost is what calls cost, and what the users of the last population take.
type cost struct {
	calls, told, changelog int
	allocated              uint64
	took, cpu              time.Duration
	heap                   int64
	resident               float64
}

// fold adds what a call of each of n users costs.
func (c *cost) fold(b *testing.B, kind string, n, definitions int, event string) {
	b.Helper()
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	var none, before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&none)
	cfg := Config{Store: kind, DataDir: b.TempDir(), StoreMemory: 256 << 20}
	s, err := cfg.open(slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	f := newFolding(b, definitions, s, 64<<20)
	f.populate(b, n, now)
	v := newVisits(event, now)
	runtime.ReadMemStats(&before)
	used, began := testkit.CPU(b), time.Now()
	var mix [8]byte
	for i := range n {
		binary.LittleEndian.PutUint64(mix[:], uint64(i)*0x9e3779b97f4a7c15)
		f.take(b, v.put(i%6, int(binary.BigEndian.Uint64(mix[:])%uint64(n)), now.Add(time.Duration(i)*time.Millisecond)))
	}
	f.commit(b)
	c.took, c.cpu = c.took+time.Since(began), c.cpu+testkit.CPU(b)-used
	runtime.ReadMemStats(&after)
	c.calls, c.told, c.changelog = c.calls+n, c.told+f.told, c.changelog+f.bytes
	c.allocated += after.TotalAlloc - before.TotalAlloc
	runtime.GC()
	runtime.ReadMemStats(&after)
	c.heap, c.resident = int64(after.HeapAlloc)-int64(none.HeapAlloc), resident(b)
	if err = s.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStage is what a call costs in all, with the broker in the same process unless
// KAFKA_BROKERS names one: b.N calls of 10,000 users wait, and the stage folds them.
func BenchmarkStage(b *testing.B) {
	for _, kind := range []string{storeMemory, storePebble} {
		b.Run("store="+kind, func(b *testing.B) {
			stored := func(cfg *Config, _ *Settings) {
				cfg.Store, cfg.DataDir, cfg.StoreMemory, cfg.ProfileMemory = kind, b.TempDir(), 256<<20, 64<<20
			}
			bench := newBench(b, testkit.Brokers(b, kfake.NumBrokers(1)), enginetest.Shop(20))
			bench.begun(b, stored)
			bench.wait(b, b.N)
			r := bench.stage(b, stored)
			taken := r.processor.metrics.events.WithLabelValues(folded)
			used := testkit.CPU(b)
			b.ResetTimer()
			start(b, r)
			testkit.Until(b, func() bool { return testutil.ToFloat64(taken) == float64(b.N) }, "all calls to be folded")
			b.ReportMetric(float64((testkit.CPU(b)-used).Microseconds())/float64(b.N), "cpu-µs/event")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// rareEvent is that of one call of a hundred.
const rareEvent = "Rare Event"

// wait has n calls wait for the stage.
func (b *bench) wait(tb testing.TB, n int) {
	tb.Helper()
	now := time.Now()
	usual, rare := newVisits("", now), newVisits(rareEvent, now)
	for i := range n {
		v := usual
		if i%100 == 99 {
			v = rare
		}
		rec := *v.put(i%6, i*7919%10_000, now)
		rec.Value, rec.Key, rec.Timestamp, rec.Headers = bytes.Clone(rec.Value), []byte(userName(i*7919%10_000)), time.Time{}, nil
		h := *enginetest.VisitHeaders
		h.MessageID = strconv.Itoa(i) // or they are copies
		kafka.SetHeaders(&rec, &h)
		b.client.Produce(tb.Context(), &rec, nil)
	}
	if err := b.client.Flush(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkLatency is how long after the acknowledgement of a call, at 500 a second, what it
// changes is on raw-events, and how long after the instant at which a window ends. b.N is
// how many calls are made; each is another user's, who leaves the audience later.
func BenchmarkLatency(b *testing.B) {
	const window, between = 15 * time.Second, 2 * time.Millisecond
	bench := newBench(b, testkit.Brokers(b, kfake.NumBrokers(1)), engine.Definitions{
		Audiences: []engine.Audience{audience("recent", "Order", 1, window)},
	})
	r := bench.stage(b)
	start(b, r)
	testkit.Until(b, func() bool { return r.Ready() == nil }, "the stage to be ready")
	reader := bench.Client(b, kgo.ConsumeTopics(schemas.TopicRawEvents), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	bench.send(b, bench.track("warm", "Another", time.Now()))
	var mu sync.Mutex
	acked := make(map[string]time.Time)
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() {
		every := time.NewTicker(between)
		defer every.Stop()
		for i := range b.N {
			<-every.C
			bench.client.Produce(b.Context(), bench.track(userName(i), "Order", time.Now()), func(rec *kgo.Record, _ error) {
				mu.Lock()
				defer mu.Unlock()
				acked[string(rec.Key)] = time.Now()
			})
		}
	})
	told := make(map[string]time.Time)
	var calls, exits []time.Duration
	for len(exits) < b.N {
		fetches := reader.PollFetches(b.Context())
		now := time.Now()
		fetches.EachRecord(func(rec *kgo.Record) {
			if h, err := kafka.HeadersOf(rec); err != nil || h.Origin != schemas.OriginPersonas {
				return
			}
			if change := read(b, rec); change.Cause == "timer" {
				exits = append(exits, now.Sub(change.At))
			} else {
				told[change.User] = now
			}
		})
	}
	sending.Wait()
	if err := bench.client.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	for user, at := range told { // a change may be read before the client hears of the acknowledgement
		calls = append(calls, max(0, at.Sub(acked[user])))
	}
	for name, all := range map[string][]time.Duration{"call": calls, "exit": exits} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Milliseconds()), name+"-p50-ms")
		b.ReportMetric(float64(all[len(all)*99/100].Milliseconds()), name+"-p99-ms")
		b.ReportMetric(float64(all[len(all)-1].Milliseconds()), name+"-max-ms")
	}
}

// BenchmarkRestore is what reading the state of b.N users from the changelog costs, with the
// broker in the same process: into a store that is empty, and into one that was closed and
// lacks a hundredth.
func BenchmarkRestore(b *testing.B) {
	for _, kind := range []string{storeMemory, storePebble} {
		b.Run("store="+kind, func(b *testing.B) {
			bench := newBench(b, testkit.Brokers(b, kfake.NumBrokers(1)), enginetest.Shop(20))
			bench.remembered(b, 0, b.N)
			cfg := Config{Store: kind, DataDir: b.TempDir(), StoreMemory: 256 << 20}
			b.ResetTimer()
			restoreAll(b, bench, cfg, "cold")
			if kind == storeMemory {
				return // there is nothing that it comes back to
			}
			bench.remembered(b, 0, b.N/100)
			restoreAll(b, bench, cfg, "warm")
		})
	}
}

// remembered writes the records of some users to the changelog.
func (b *bench) remembered(tb testing.TB, from, to int) {
	tb.Helper()
	d := enginetest.Shop(20)
	c, err := compile(&d, nil)
	if err != nil {
		tb.Fatal(err)
	}
	state := history(tb, c, "user", 20, time.Now())
	writer := b.Client(tb, manual(), kgo.MaxBufferedRecords(100_000))
	for i := from; i < to; i++ {
		writer.Produce(tb.Context(), changelog.User(int32(i%partitions), userName(i), state), nil)
	}
	if err := writer.Flush(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// restoreAll restores all partitions and reports what that took.
func restoreAll(b *testing.B, bench *bench, cfg Config, how string) {
	b.Helper()
	s, err := cfg.open(slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	read := 0
	r := changelog.Restorer{
		Log: slog.New(slog.DiscardHandler), Kafka: bench.Options(), Topics: bench.topics, Store: s, Due: dueOf(),
		Progress: func(n int, _ int64) { read += n },
	}
	used, begun := testkit.CPU(b), time.Now()
	if _, err := r.Restore(b.Context(), []int32{0, 1, 2}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric((testkit.CPU(b) - used).Seconds(), how+"-cpu-s")
	b.ReportMetric(time.Since(begun).Seconds(), how+"-s")
	b.ReportMetric(float64(read), how+"-records")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkBackfill is what filling new definitions from b.N calls of 10,000 users costs,
// with the broker in the same process: where each call is for some of them, and where one of
// a hundred is.
func BenchmarkBackfill(b *testing.B) {
	for match, d := range map[string]engine.Definitions{
		"all": enginetest.Shop(20), "few": {Audiences: []engine.Audience{audience("rare", rareEvent, 1, 0)}},
	} {
		for _, kind := range []string{storeMemory, storePebble} {
			b.Run("match="+match+"/store="+kind, func(b *testing.B) { benchmarkBackfill(b, kind, d) })
		}
	}
}

func benchmarkBackfill(b *testing.B, kind string, d engine.Definitions) {
	b.Helper()
	stored := func(cfg *Config, _ *Settings) {
		cfg.Store, cfg.DataDir, cfg.StoreMemory, cfg.ProfileMemory = kind, b.TempDir(), 256<<20, 64<<20
	}
	bench := newBench(b, testkit.Brokers(b, kfake.NumBrokers(1)), engine.Definitions{Traits: []engine.Trait{counted()}})
	bench.begun(b, stored)
	bench.wait(b, b.N)
	r := bench.stage(b, stored)
	start(b, r)
	taken := r.processor.metrics.events.WithLabelValues(folded)
	testkit.Until(b, func() bool { return testutil.ToFloat64(taken) >= float64(b.N) }, "all calls to be folded")
	filled := r.processor.metrics.filled
	d.Traits = append(d.Traits, counted()) // what is filled already stays
	used, begun := testkit.CPU(b), time.Now()
	b.ResetTimer()
	bench.definitions.Store(&d)
	testkit.Until(b, func() bool { return testutil.ToFloat64(filled) >= float64(b.N) }, "the definitions to be filled")
	b.ReportMetric(float64((testkit.CPU(b)-used).Microseconds())/float64(b.N), "cpu-µs/event")
	b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "events/s")
}
