package hanging

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestCommitted asks about a record of each transaction when both have ended, and
// about one whose transaction is open.
func TestCommitted(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	topic := schemas.DeliverTopic("crm")
	cluster.CreateTopics(t, 1, topic)
	cl := cluster.Client(t, kgo.TransactionalID("anabranch-router-a"))
	write := func() *kgo.Record {
		t.Helper()
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		rec, err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: topic}).First()
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	for _, end := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
		rec := write()
		if err := cl.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
		if got, err := WasCommitted(t.Context(), cluster.Options(), rec); err != nil || got != bool(end) {
			t.Errorf("committed: %v, error %v, want %v", got, err, end)
		}
	}
	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if got, err := WasCommitted(brief, cluster.Options(), write()); got || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("of an open transaction: %v, error %v, want the end of the wait", got, err)
	}
}

// TestCommittedThatMayNotBeRead: a router may write to topics that it may not read,
// and is told at once.
func TestCommittedThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	topic := schemas.DeliverTopic("crm")
	cluster := testkit.Fake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	got, err := WasCommitted(t.Context(), cluster.Options(), &kgo.Record{Topic: topic})
	if got || !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("committed: %v, error %v, want the refusal", got, err)
	}
}
