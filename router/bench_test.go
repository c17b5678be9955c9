package router

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/seen"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// BenchmarkRouter is the cost of the whole stage per event of 1 KB, which goes
// to two destinations, together with that of the broker in the same process; with copies
// told, and without; with the journal and without. SEEN_BENCH is how many calls the router
// knows from before.
func BenchmarkRouter(b *testing.B) {
	for name, window := range map[string]time.Duration{"once": 24 * time.Hour, "all": 0} {
		for _, journal := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/journal=%t", name, journal), func(b *testing.B) { benchmark(b, window, journal) })
		}
	}
}

func benchmark(b *testing.B, window time.Duration, journal bool) {
	b.Helper()
	bench := newBench(b, testkit.Fake(b, kfake.NumBrokers(1)))
	dir := b.TempDir()
	if n, err := strconv.Atoi(os.Getenv("SEEN_BENCH")); err == nil && window > 0 {
		bench.remember(b, dir, window, n)
	}
	pad := incompressible(900)
	events := make([]*kgo.Record, b.N)
	for i := range events {
		events[i] = event(fmt.Sprintf("u%d", i%100), i, schemas.Headers{Source: "web"})
		events[i].Value = fmt.Appendf(nil, `{"type":"track","pad":%q}`, pad)
	}
	bench.send(b, events...)
	r := bench.router(b, func(cfg *Config, set *Settings) {
		cfg.MaxRecords, cfg.Dedup, cfg.DataDir, set.Journal = 2000, window, dir, journal
	})
	routed := r.stage.metrics.events.WithLabelValues("crm", string(routed))
	reached := func(n int) {
		testkit.Until(b, func() bool { return testutil.ToFloat64(routed) >= float64(n) }, "events to be routed")
	}
	start(b, r)
	reached((b.N + 3) / 4) // what is known is taken up, and the heap has grown
	before, cpu := testutil.ToFloat64(routed), testkit.CPU(b)
	b.ReportAllocs()
	b.ResetTimer()
	reached(b.N)
	b.StopTimer()
	n := max(float64(b.N)-before, 1)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/op")
	b.ReportMetric(n/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64((testkit.CPU(b)-cpu).Nanoseconds())/n, "cpu-ns/event")
}

// remember has a router that starts with a directory know so many calls of the horizon, as
// if it had processed them. On raw-events there are fewer.
func (b *bench) remember(tb testing.TB, dir string, window time.Duration, n int) {
	tb.Helper()
	topicID, err := b.topics.ID(tb.Context(), schemas.TopicRawEvents)
	if err != nil {
		tb.Fatal(err)
	}
	store, err := seen.Open(seen.Options{Dir: dir, Window: window, Logger: slog.New(slog.NewTextHandler(tb.Output(), nil)), Failed: func(string) {}})
	if err != nil {
		tb.Fatal(err)
	}
	defer store.Close()
	const portion = 1 << 14
	offsets := n/topicConfig.Partitions/portion + 1
	present := store.Bucket(time.Now())
	random := rand.New(rand.NewPCG(1, 1))
	var committed kadm.Offsets
	for num := range int32(topicConfig.Partitions) {
		b.Fill(tb, schemas.TopicRawEvents, num, offsets)
		committed.AddOffset(schemas.TopicRawEvents, num, int64(offsets), -1)
		set := store.Set(num, schemas.TopicRawEvents, topicID)
		for at := range int64(offsets) {
			var calls []byte
			for range portion * seen.Bytes / 8 {
				calls = binary.BigEndian.AppendUint64(calls, random.Uint64())
			}
			if err == nil {
				err = set.Load(at, at+1, present-seen.Buckets+at*seen.Buckets/int64(offsets), seen.Parse(nil, calls))
			}
		}
		if err == nil {
			err = set.Loaded()
		}
		if err != nil {
			tb.Fatal(err)
		}
		set.Close()
	}
	if err = kadm.NewClient(b.client).CommitAllOffsets(tb.Context(), Group, committed); err != nil {
		tb.Fatal(err)
	}
}
