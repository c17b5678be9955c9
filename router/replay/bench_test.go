package replay

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

var planned = flag.Int("planned", 100_000, "how many events BenchmarkPlan plans")

// BenchmarkPlan reads a range and judges it for two destinations, of which one was sent all of
// it then, as the journal says. Its figures mean something with KAFKA_BROKERS alone, where
// these are another process.
func BenchmarkPlan(b *testing.B) {
	c := testkit.Brokers(b)
	log := topics.New(c.Client(b), policy.Config{Partitions: 6, Replication: -1, RawRetention: 24 * time.Hour})
	if err := log.Ensure(b.Context(), schemas.TopicRawEvents, schemas.TopicJournal); err != nil {
		b.Fatal(err)
	}
	bench := newBenchOn(b, c, "crm", "lake")
	history := &chronicle{bench: bench}
	history.write(b, *planned)
	o := &Operator{Kafka: bench.Options(), Topics: bench.topics}
	run, err := o.Prepare(b.Context(), Request{Rate: 1}, bench.live.Load(), time.Now())
	if err != nil {
		b.Fatal(err)
	}
	peak := testkit.Resident(b)
	used := testkit.CPU(b)
	b.ReportAllocs()
	for b.Loop() {
		f, err := o.Plan(b.Context(), run, bench.live.Load(), listeners{}, nil)
		if err != nil || f.Total() != 2*int64(*planned) || f.Destinations["crm"].Again != int64(*planned) || f.Destinations["lake"].Missing != int64(*planned) {
			b.Fatalf("%+v, %v", f, err)
		}
	}
	b.ReportMetric(float64(*planned)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/plan")
	b.ReportMetric((testkit.CPU(b)-used).Seconds()/float64(b.N), "cpu-s/plan")
	b.ReportMetric(peak(), "peak-MiB")
}

// chronicle writes events, and has the journal say that crm was sent them.
type chronicle struct {
	*bench

	journal *kgo.Client
	prints  *journal.Prints
	began   time.Time
	pages   map[int32]*page // by partition
	failed  error           // promises alone write it
}

// page is what the journal is told of a partition next.
type page struct {
	calls    format.Calls
	attempts format.Attempts
	next     int64
}

func (h *chronicle) write(b *testing.B, n int) {
	b.Helper()
	const users = 100_000
	var err error
	if h.prints, err = journal.FindPrints(b.Context(), h.topics); err != nil {
		b.Fatal(err)
	}
	h.journal = h.Client(b, kgo.RecordPartitioner(journal.Partitioner(kgo.StickyKeyPartitioner(nil))))
	h.began, h.pages = time.Now().Truncate(time.Millisecond), make(map[int32]*page)
	values := values()
	for i := range n {
		rec := event(fmt.Sprintf("u%d", i%users), i)
		rec.Value = values[i%len(values)]
		h.client.Produce(b.Context(), rec, h.note)
	}
	if err := h.client.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	for num := range h.pages {
		h.turn(num)
	}
	if err := h.journal.Flush(b.Context()); err != nil || h.failed != nil {
		b.Fatal(err, h.failed)
	}
}

// values are some events of a kilobyte, of which a third is random.
func values() [][]byte {
	all := make([][]byte, 256)
	for i := range all {
		all[i] = fmt.Appendf(nil, `{"type":"track","event":"e%d","properties":{"currency":"EUR","products":[`, i%7)
		for len(all[i]) < 900 {
			all[i] = fmt.Appendf(all[i], `{"product_id":"%016x","quantity":1,"price":12.5},`, rand.Uint64())
		}
		all[i] = append(all[i], `{}]}}`...)
	}
	return all
}

// note says of an event that the router has sent it to crm, and the sink delivered it.
func (h *chronicle) note(rec *kgo.Record, err error) {
	const most = 5_000
	if err != nil {
		h.failed = err
		return
	}
	p := h.pages[rec.Partition]
	if p == nil {
		p = new(page)
		h.pages[rec.Partition] = p
	}
	name := h.prints.Of(rec)
	p.calls.Add(&format.Call{
		Offset: rec.Offset, Fingerprint: name, Source: "web", Result: format.Routed,
		Decisions: []format.Decision{{Destination: "crm", Result: format.Sent}},
	})
	p.attempts.Add(&format.Attempt{
		Offset: rec.Offset, Fingerprint: name, Destination: "crm", Source: "web", Outcome: format.Delivered,
		Endpoints: 1, Number: 1, At: h.began, Until: h.began,
	})
	if p.next = rec.Offset + 1; p.calls.Len() == most {
		h.turn(rec.Partition)
	}
}

// turn writes what is noted of a partition.
func (h *chronicle) turn(num int32) {
	p := h.pages[num]
	head := format.Head{Stage: "router", Topic: schemas.TopicRawEvents, Partition: num, Next: p.next, KeyID: h.prints.KeyID(), Base: h.began}
	done := func(_ *kgo.Record, err error) {
		if err != nil {
			h.failed = err
		}
	}
	h.journal.Produce(context.Background(), journal.Record(&head, p.calls.Append(nil, &head)), done)
	head.Stage, head.Topic = "webhook-sink", schemas.DeliverTopic("crm")
	h.journal.Produce(context.Background(), journal.Record(&head, p.attempts.Append(nil, &head)), done)
	p.calls.Reset()
	p.attempts.Reset()
}
