package digest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/seen"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// BenchmarkRestore is a start without files: the digests of a million calls, or as many as
// SEEN_BENCH says, of a whole horizon, are read from brokers, and files are made of them.
// Without KAFKA_BROKERS the brokers are in the process, and their processor time counts.
func BenchmarkRestore(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("SEEN_BENCH"))
	if err != nil {
		n = 1_000_000
	}
	plant := newBench(b, testkit.Brokers(b))
	at := At{Next: int64(n), Newest: time.Now()}
	plant.horizon(b, at)
	b.ResetTimer()
	used := testkit.CPU(b)
	for range b.N {
		store := openStore(b, b.TempDir())
		set, logs, err := plant.restore(b.Context(), b, store, at)
		if err != nil || set.Next() != at.Next {
			b.Fatal(err, logs)
		}
		b.StopTimer()
		store.Close()
		b.StartTimer()
	}
	b.ReportMetric((testkit.CPU(b)-used).Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// horizon writes the digests of calls of a whole horizon, up to where processing is.
func (b *bench) horizon(tb testing.TB, at At) {
	tb.Helper()
	set := b.store.Set(0, schemas.TopicRawEvents, topicID)
	of, last := set.Identity(), b.store.Bucket(at.Newest)
	set.Close()
	for from := int64(0); from < at.Next; from += Most {
		d := digest{of: of, from: from, to: min(from+Most, at.Next), bucket: last - seen.Buckets + from*seen.Buckets/at.Next}
		for range d.to - d.from {
			var random [seen.Bytes]byte
			for i := range random {
				random[i] = byte(rand.Uint32())
			}
			d.fps = seen.Parse(d.fps, random[:])
		}
		b.client.Produce(tb.Context(), &kgo.Record{Topic: schemas.TopicSeen, Value: d.value()}, func(_ *kgo.Record, err error) {
			if err != nil {
				tb.Error(err)
			}
		})
	}
	if err := b.client.Flush(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}
