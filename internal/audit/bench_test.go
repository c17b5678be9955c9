package audit

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

// BenchmarkEvents is what a call costs that was routed to two destinations and delivered,
// without reading it from brokers. With -benchtime 10000000x it is of ten million.
func BenchmarkEvents(b *testing.B) {
	c := newCrowd()
	l := c.ledger(b.N)
	defer l.piles.Close()
	peak := testkit.Resident(b)
	b.ReportAllocs()
	b.ResetTimer()
	c.into(b, l, 0, b.N)
	c.close(b, l, b.N)
	b.ReportMetric(peak(), "MiB")
}

// BenchmarkAudit is a whole audit: b.N calls of a kilobyte, with their journal, are on
// brokers. Its figures mean something with KAFKA_BROKERS alone, where these are another
// process.
func BenchmarkAudit(b *testing.B) {
	c := newPopulation(b, b.N)
	peak := testkit.Resident(b)
	used := testkit.CPU(b)
	b.ResetTimer()
	c.audit(b)
	b.StopTimer()
	b.ReportMetric(b.Elapsed().Seconds(), "s")
	b.ReportMetric((testkit.CPU(b) - used).Seconds(), "cpu-s")
	b.ReportMetric(peak(), "peak-MiB")
}

// TestACrowd: an audit of more calls than memory is taken for comes to what they came to.
func TestACrowd(t *testing.T) {
	t.Parallel()
	newPopulation(t, 30_000).audit(t)
}

// TestMemoryOfACall: once the piles are full, a call takes a bit, and sixteen bytes for
// each chunk of its facts that is put aside.
func TestMemoryOfACall(t *testing.T) {
	const few, many, most = 300_000, 600_000, 2.0
	c := newCrowd()
	l := c.ledger(many)
	defer l.piles.Close()
	held := func() float64 {
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		return float64(memory.HeapAlloc)
	}
	c.into(t, l, 0, few)
	before := held()
	c.into(t, l, few, many)
	if grown := (held() - before) / (many - few); grown > most {
		t.Errorf("a call takes %.1f bytes of memory, expected at most %g", grown, most)
	}
	c.close(t, l, many)
}

// population is a crowd on brokers.
type population struct {
	*testkit.Cluster
	*crowd

	admin *topics.Admin
	n     int
}

func newPopulation(tb testing.TB, n int) *population {
	tb.Helper()
	p := &population{Cluster: testkit.Brokers(tb), crowd: newCrowd(), n: n}
	p.CreateTopics(tb, crowdPartitions, schemas.TopicRawEvents, schemas.TopicJournal, schemas.TopicDeadLetters, retryTopic,
		schemas.DeliverTopic("crm"), schemas.DeliverTopic("mail"))
	p.CreateTopics(tb, 1, schemas.TopicRedriven)
	p.admin = topics.New(p.Client(tb), policy.Config{})
	prints, err := journal.FindPrints(tb.Context(), p.admin)
	if err != nil {
		tb.Fatal(err)
	}
	p.keyID = prints.KeyID()
	p.print = func(i int) uint64 { return prints.Of(named(i)) }
	p.write(tb)
	p.commit(tb)
	return p
}

// named is a record of the n-th call without a value, wherever that stands.
func named(n int) *kgo.Record {
	r := &kgo.Record{Key: fmt.Appendf(nil, "user-%d", n%100_000), Partition: int32(n % crowdPartitions)}
	kafka.SetHeaders(r, &schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: fmt.Sprintf("anabranch-go-%016x", uint64(n)*0x9e3779b97f4a7c15), Origin: schemas.OriginAPI})
	return r
}

// write puts the calls, their dead letters and their journal onto topics.
func (p *population) write(tb testing.TB) {
	tb.Helper()
	to := func(codec kgo.CompressionCodec) (put func(*kgo.Record), flush func()) {
		cl, err := kgo.NewClient(append(p.Options(), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(codec))...)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(cl.Close)
		put = func(r *kgo.Record) {
			cl.Produce(tb.Context(), r, func(_ *kgo.Record, err error) {
				if err != nil {
					tb.Error(err)
				}
			})
		}
		flush = func() {
			if err := cl.Flush(tb.Context()); err != nil {
				tb.Fatal(err)
			}
			cl.Close()
		}
		return put, flush
	}
	put, flush := to(kgo.SnappyCompression())
	for n := range p.n {
		r := named(n)
		r.Topic, r.Value = schemas.TopicRawEvents, bodies[n%len(bodies)]
		put(r)
		if isDead(n) {
			put(buriedAtMail(n))
		}
	}
	flush()
	put, flush = to(kgo.ZstdCompression())
	_ = p.tell(0, p.n, func(head *format.Head, value []byte) error {
		put(journal.Record(head, value))
		return nil
	})
	flush()
}

// buriedAtMail is the dead letter of the n-th call at mail.
func buriedAtMail(n int) *kgo.Record {
	r := named(n)
	h, _ := kafka.HeadersOf(r) // which were set a moment ago
	h.Destination, h.Reason, h.Attempt = "mail", schemas.ReasonStatus4xx, 1
	kafka.SetHeaders(r, &h)
	r.Topic, r.Value = schemas.TopicDeadLetters, []byte("{}")
	return r
}

// bodies are some values of a kilobyte, of which a third is random.
var bodies = func() (all [256][]byte) {
	for i := range all {
		all[i] = []byte(`{"type":"track","event":"Order Completed","properties":{"currency":"EUR","products":[`)
		for len(all[i]) < 900 {
			all[i] = fmt.Appendf(all[i], `{"product_id":"%016x","quantity":1,"price":12.5},`, rand.Uint64())
		}
		all[i] = append(all[i], `{}]}}`...)
	}
	return all
}()

// commit has the router's group be behind the calls.
func (p *population) commit(tb testing.TB) {
	tb.Helper()
	var routed kadm.Offsets
	for num, of := range p.ledger(p.n).raw {
		routed.Add(kadm.Offset{Topic: schemas.TopicRawEvents, Partition: num, At: of.routed})
	}
	if err := kadm.NewClient(p.Client(tb)).CommitAllOffsets(tb.Context(), "anabranch-test-router", routed); err != nil {
		tb.Fatal(err)
	}
}

// audit runs one, which has to come to what the crowd came to.
func (p *population) audit(tb testing.TB) {
	tb.Helper()
	r, err := Run(tb.Context(), Settings{
		Kafka: p.Options(), Topics: p.admin, Stages: stages(), Retention: 30 * 24 * time.Hour,
		From: p.began.Add(-time.Minute), To: time.Now().Truncate(time.Millisecond),
	})
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(p.rows(p.n), r.Rows); diff != "" || len(r.Missing)+len(r.Unknown) > 0 {
		tb.Errorf("%d missing, not known: %v; rows (-want +got):\n%s", len(r.Missing), r.Unknown, diff)
	}
}
