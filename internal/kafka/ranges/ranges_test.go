package ranges_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

func TestRanges(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cl := cluster.Client(t)
	// Embedded, or the broker would put its own time on records.
	admin := topics.New(cl, policy.Config{DeliverPartitions: 1, Replication: -1, Embedded: true})
	topic := schemas.DeliverTopic("ranges") // no other test gives it the brokers' time
	list := func(since time.Time) map[int32]ranges.Range {
		t.Helper()
		got, err := ranges.List(t.Context(), cl, topic, since)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := list(time.Time{}); len(got) != 0 {
		t.Errorf("ranges of a topic that does not exist: %v", got)
	}
	if err := admin.Ensure(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	noon := time.Now().Truncate(time.Second)
	for _, at := range []time.Time{noon.Add(-time.Hour), noon, noon.Add(time.Hour)} {
		r := &kgo.Record{Topic: topic, Key: []byte("0-0"), Timestamp: at}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for since, want := range map[time.Time]ranges.Range{
		{}:                         {0, 3},
		noon.Add(-2 * time.Hour):   {0, 3},
		noon:                       {1, 3},
		noon.Add(time.Millisecond): {2, 3},
		noon.Add(2 * time.Hour):    {3, 3},
	} {
		if got := list(since); len(got) != 1 || got[0] != want {
			t.Errorf("ranges since %v: %v, want %v", since, got, want)
		}
	}
}

// TestAwait: what stands behind an open transaction is waited for, and named when that does
// not end.
func TestAwait(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	topic := schemas.DeliverTopic("await")
	cluster.CreateTopics(t, 1, topic)
	cl := cluster.Client(t, kgo.TransactionalID("await"), kgo.DefaultProduceTopic(topic))
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := cl.ProduceSync(t.Context(), kgo.StringRecord("event")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	looks := cluster.Client(t)
	if hidden, err := ranges.Await(t.Context(), looks, 0, topic, schemas.DeliverTopic("gone")); err != nil || len(hidden) != 1 || hidden[0] != topic+"[0]" {
		t.Errorf("behind an open transaction: %v, %v", hidden, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cl.EndTransaction(t.Context(), kgo.TryCommit) }()
	if hidden, err := ranges.Await(t.Context(), looks, time.Minute, topic); err != nil || len(hidden) > 0 {
		t.Errorf("once it has ended: %v, %v", hidden, err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
