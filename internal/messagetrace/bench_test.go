package messagetrace_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

// BenchmarkSearch measures what finding one call costs for each call that is passed over:
// on raw-events, where calls are of 600 bytes, and in the journal, by its fingerprint. With
// KAFKA_BROKERS it is a real broker that is read.
func BenchmarkSearch(b *testing.B) {
	b.Run("raw-events", func(b *testing.B) {
		const records = 200_000
		c := testkit.Brokers(b)
		c.CreateTopics(b, 4, schemas.TopicRawEvents)
		cl := c.Client(b, kgo.ProducerBatchCompression(kgo.SnappyCompression()), kgo.DefaultProduceTopic(schemas.TopicRawEvents), kgo.MaxBufferedRecords(records))
		for i := range records {
			r := &kgo.Record{Key: fmt.Append(nil, "user-", i%1000), Value: fmt.Appendf(nil, `{"type":"track","messageId":"m-%d","properties":{"x":"%0540x"}}`, i, rand.Uint64())}
			kafka.SetHeaders(r, &schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: fmt.Sprint("m-", i)})
			cl.Produce(b.Context(), r, nil)
		}
		search(b, c, cl, schemas.TopicRawEvents, records, []byte("no such call"))
	})
	b.Run("journal", func(b *testing.B) {
		const records, calls = 20_000, 200
		c := testkit.Brokers(b)
		c.CreateTopics(b, 4, schemas.TopicJournal)
		cl := c.Client(b, kgo.ProducerBatchCompression(kgo.ZstdCompression()), kgo.RecordPartitioner(journal.Partitioner(kgo.StickyKeyPartitioner(nil))), kgo.MaxBufferedRecords(records))
		var all format.Calls
		for i := range records {
			all.Reset()
			for n := range calls {
				all.Add(&format.Call{Offset: int64(calls*i + n), Fingerprint: rand.Uint64(), Source: "web", Result: format.Routed, Decisions: []format.Decision{{Destination: "crm", Result: format.Sent}}})
			}
			head := format.Head{Stage: "router", Topic: schemas.TopicRawEvents, Partition: int32(i % 4), From: int64(calls * i), Next: int64(calls * (i + 1)), Base: time.Now()}
			cl.Produce(b.Context(), journal.Record(&head, all.Append(nil, &head)), nil)
		}
		search(b, c, cl, schemas.TopicJournal, records*calls, []byte("no print"))
	})
}

func search(b *testing.B, c *testkit.Cluster, cl *kgo.Client, topic string, calls int, text []byte) {
	b.Helper()
	if err := cl.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		held, err := ranges.List(b.Context(), cl, topic, time.Time{})
		if err != nil {
			b.Fatal(err)
		}
		if err = ranges.Scan(b.Context(), c.Client(b), ranges.Spans(topic, held), [][]byte{text}, func(*kgo.Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(calls)*float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
