package runner

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// wide makes so many topics to write to.
func (b *bench) wide(tb testing.TB, n int) []string {
	tb.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = schemas.DeliverTopic(fmt.Sprintf("d%d", i))
	}
	if err := b.topics.Ensure(tb.Context(), names...); err != nil {
		tb.Fatal(err)
	}
	return names
}

// TestATransactionIsBoundedByWhatItWrites: what waits for many destinations is routed
// in several transactions; an event with more of them than one may write passes by
// itself.
func TestATransactionIsBoundedByWhatItWrites(t *testing.T) {
	t.Parallel()
	const destinations, events = 40, 10
	for name, c := range map[string]struct {
		written int // the budget
		most    int // records in one transaction
	}{
		"two events fit":     {100, 2 * destinations},
		"not one event fits": {30, destinations},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)))
			sent := make([]*kgo.Record, events)
			for i := range sent {
				sent[i] = event("u", i)
			}
			b.send(t, sent...)
			most := b.largestTransaction()
			r := b.runner(t)
			r.full.Written, r.outputs = c.written, b.wide(t, destinations)
			start(t, r)
			for _, topic := range r.outputs {
				b.ReadAll(t, topic, events)
			}
			if got := most.Load(); got != int64(c.most) {
				t.Errorf("a transaction of %d records, want %d at most", got, c.most)
			}
		})
	}
}

// largestTransaction counts the records that the brokers are sent in a transaction.
func (b *bench) largestTransaction() *atomic.Int64 {
	var most, now atomic.Int64
	b.Fake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		for _, topic := range req.(*kmsg.ProduceRequest).Topics {
			for _, partition := range topic.Partitions {
				var batch kmsg.RecordBatch
				if batch.ReadFrom(partition.Records) == nil {
					now.Add(int64(batch.NumRecords))
				}
			}
		}
		return nil, nil, false
	})
	b.Fake.ControlKey(int16(kmsg.EndTxn), func(kmsg.Request) (kmsg.Response, error, bool) {
		most.Store(max(most.Load(), now.Swap(0)))
		return nil, nil, false
	})
	return &most
}

// trickle sends so many events, one after the other.
func (b *bench) trickle(t *testing.T, n int, every time.Duration) {
	t.Helper()
	for i := range n {
		b.send(t, event(fmt.Sprintf("u%d", i%50), i))
		virtual.Sleep(every)
	}
}

// TestEventsShareATransaction: 250 events a second on brokers that take five
// milliseconds to end a transaction, which alone bounds it to one for every other
// event.
func TestEventsShareATransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 500
		b, r := virtually(t)
		ends := 0
		b.Fake.ControlKey(kmsg.EndTxn.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
			b.Fake.KeepControl()
			ends++
			b.Fake.SleepControl(func() { virtual.Sleep(5 * time.Millisecond) })
			return nil, nil, false
		})
		start(t, r)
		b.trickle(t, n, 4*time.Millisecond)
		b.ReadAll(t, crm, n)
		if ends > n/4 {
			t.Errorf("%d transactions for %d events", ends, n)
		}
	})
}

// laborious is a stage that works for some time on each record.
type laborious struct {
	*copier

	works time.Duration
}

func (l *laborious) Process(ctx context.Context, t *Transaction, rec *kgo.Record) int {
	virtual.Sleep(l.works)
	return l.copier.Process(ctx, t, rec)
}

// TestWorkIsNotWaitedFor: where the brokers are quick an event has a transaction of its own,
// however long the stage works on it.
func TestWorkIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		b := newBench(t, testkit.Virtual(t))
		r := b.running(t, &laborious{&copier{outputs: []string{crm}}, 5 * time.Millisecond}, func(set *Settings) {
			set.Kafka = append(set.Kafka, b.Options()...)
		})
		var ends atomic.Int64
		b.Fake.ControlKey(kmsg.EndTxn.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
			b.Fake.KeepControl()
			ends.Add(1)
			return nil, nil, false
		})
		start(t, r)
		b.trickle(t, n, 10*time.Millisecond)
		b.ReadAll(t, crm, n)
		if ends.Load() < n*9/10 {
			t.Errorf("%d transactions for %d events", ends.Load(), n)
		}
	})
}
