package kafka

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestExtents: readers of committed records see no further than the first open
// transaction.
func TestExtents(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	crm := schemas.DeliverTopic("crm")
	c.CreateTopics(t, 2, crm)
	c.Fill(t, crm, 0, 3)
	open := c.Client(t, kgo.TransactionalID("open"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := open.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := open.ProduceSync(t.Context(), &kgo.Record{Topic: crm}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	got, err := NewTopics(c.Client(t)).Extents(t.Context(), crm, schemas.DeliverTopic("gone"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]map[int32]Extent{crm: {0: {0, 3, 4}, 1: {}}}, got); diff != "" {
		t.Errorf("extents (-want +got):\n%s", diff)
	}
	if err := open.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
}

func TestFirstAfter(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	crm := schemas.DeliverTopic("crm")
	c.CreateTopics(t, 2, crm)
	cl := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	base := time.UnixMilli(time.Now().UnixMilli()).Add(-time.Minute)
	for i := range 6 { // two of each second, in one batch
		cl.Produce(t.Context(), &kgo.Record{Topic: crm, Timestamp: base.Add(time.Duration(i/2) * time.Second)}, nil)
	}
	if err := cl.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	topics := NewTopics(cl)
	for after, want := range map[time.Duration]map[int32]int64{
		-time.Second:           {0: 0},
		0:                      {0: 2},
		999 * time.Millisecond: {0: 2},
		time.Second:            {0: 4},
		2 * time.Second:        {},
	} {
		got, err := topics.FirstAfter(t.Context(), crm, map[int32]time.Time{0: base.Add(after), 1: base})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("first after %v: %v (-want +got):\n%s", after, err, diff)
		}
	}
}
