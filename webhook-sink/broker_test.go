package webhooksink

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// TestOnAnyBroker is what virtual time can't show: that a real broker keeps what
// we commit, and that its groups work as the in-process one's. Two sinks share the
// partitions, come and go, and deliver each event once. Every third event is of
// one user, so that others overtake them; every tenth is delivered by its second
// attempt; and every event is part of a transaction, as the router's are.
func TestOnAnyBroker(t *testing.T) {
	const n, partitions = 600, 2
	p := newPlant(t, testkit.Brokers(t), partitions, destination("crm"))
	p.transact(spread(n, partitions))
	l := newLedger(20 * time.Millisecond)
	l.answer = func(_, messageID string, attempt int) outcome.Outcome {
		if messageID[len(messageID)-1] == '5' && attempt == 1 {
			return failed(schemas.ReasonStatus5xx)
		}
		return outcome.Outcome{Verdict: outcome.Delivered}
	}
	brief := func(c *Config, _ *Settings) {
		c.RetryDelays = []time.Duration{300 * time.Millisecond, time.Second}
		c.MaxInFlight = 8
	}
	reach := func(count int) {
		testkit.Until(t, func() bool { return distinct(l.all()) >= count }, "more events to be delivered")
	}
	first := p.start(l.attempt, brief, static("one"))
	reach(n / 10)
	first.end()
	first = p.start(l.attempt, brief, static("one"))
	reach(2 * n / 10)
	second := p.start(l.attempt, brief).ready()
	reach(4 * n / 10)
	first.end()
	reach(5 * n / 10)
	first = p.start(l.attempt, brief, static("one")).ready()
	second.end()
	reach(n)
	first.end()
	l.once(t, ids("e", n))
	p.deadLetters(0)
}

// transact writes records in transactions of a few each, so that the log has the
// gaps of their markers.
func (p *plant) transact(records []*kgo.Record) {
	p.t.Helper()
	for i := range records {
		if i%3 == 0 {
			records[i].Key = []byte("hot")
		}
	}
	cl := p.cluster.Client(p.t, kgo.TransactionalID("test"), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	for len(records) > 0 {
		some := records[:min(7, len(records))]
		records = records[len(some):]
		if err := cl.BeginTransaction(); err != nil {
			p.t.Fatal(err)
		}
		if err := cl.ProduceSync(p.t.Context(), some...).FirstErr(); err != nil {
			p.t.Fatal(err)
		}
		if err := cl.EndTransaction(p.t.Context(), kgo.TryCommit); err != nil {
			p.t.Fatal(err)
		}
	}
}
