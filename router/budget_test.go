package router

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	full := budget{read: 2000, written: budgetRecords, bytes: budgetBytes}
	for name, c := range map[string]struct {
		left   budget
		fanOut int
		want   int
	}{
		"nobody listens":                        {full, 0, 1000},
		"one destination":                       {full, 1, 1000},
		"what may be read is read":              {budget{read: 5, written: budgetRecords, bytes: budgetBytes}, 1, 5},
		"ten at a time for a hundred":           {full, 100, 10},
		"one at a time for ten thousand":        {full, 10_000, 1},
		"more destinations than the budget":     {full, 60_000, 0},
		"no record is left for all of them":     {budget{read: 100, written: 299, bytes: 1}, 300, 0},
		"the last that fits":                    {budget{read: 100, written: 300, bytes: 1}, 300, 1},
		"no bytes are left":                     {budget{read: 100, written: 300, bytes: 0}, 1, 0},
		"nothing may be read any more":          {budget{read: 0, written: 300, bytes: 1}, 1, 0},
		"a slow broker gets less":               {full.halved(2), 1, 500},
		"the slowest still gets something":      {full.halved(mostHalvings), 1, 1},
		"and of a wide event nothing beside it": {full.halved(mostHalvings), 1000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.left.next(c.fanOut); got != c.want {
				t.Errorf("%+v for %d destinations: next = %d, want %d", c.left, c.fanOut, got, c.want)
			}
		})
	}
}

func TestHalve(t *testing.T) {
	t.Parallel()
	const timeout = 16 * time.Second
	for _, c := range []struct {
		now, want int
		took      time.Duration
	}{
		{0, 0, time.Millisecond},
		{3, 2, time.Millisecond},
		{3, 3, 2 * time.Second},
		{0, 1, 5 * time.Second},
		{mostHalvings, mostHalvings, time.Minute},
	} {
		if got := halve(c.now, c.took, timeout); got != c.want {
			t.Errorf("halve(%d, %s) = %d, want %d", c.now, c.took, got, c.want)
		}
	}
}

// wide gives the bench so many destinations, all of which listen to one source.
func (b *bench) wide(tb testing.TB, n int) {
	tb.Helper()
	destinations := make([]workspace.Destination, n)
	names := make([]string, n)
	for i := range destinations {
		id := fmt.Sprintf("d%d", i)
		names[i] = schemas.DeliverTopic(id)
		destinations[i] = workspace.Destination{ID: id, Type: workspace.TypeWebhooks, Enabled: true, Sources: []string{"web"}}
	}
	b.live.Store(workspace.NewSnapshot(b.live.Load().Sources(), destinations))
	if err := b.topics.Ensure(tb.Context(), names...); err != nil {
		tb.Fatal(err)
	}
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
			b.wide(t, destinations)
			sent := make([]*kgo.Record, events)
			for i := range sent {
				sent[i] = event("u", i, schemas.Headers{Source: "web"})
			}
			b.send(t, sent...)
			most := b.largestTransaction()
			r := b.router(t)
			r.full.written = c.written
			start(t, r)
			for i := range destinations {
				b.ReadAll(t, schemas.DeliverTopic(fmt.Sprintf("d%d", i)), events)
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
