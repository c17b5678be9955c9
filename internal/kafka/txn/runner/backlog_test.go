package runner

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/test/testkit"
)

// series is one of the runner's.
func (r *running) series(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	gatherer, ok := r.set.Registerer.(prometheus.Gatherer)
	if !ok {
		t.Fatal("the registry of the runner can't be read")
	}
	return testkit.Series(t, gatherer, name, labels...)
}

// TestAnIdleRouterHasNoBacklog: the marker of a transaction on raw-events, such as
// a deletion request writes, is no event that waits.
func TestAnIdleRouterHasNoBacklog(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	client := b.Client(t, kgo.TransactionalID("a-deletion"), kgo.DefaultProduceTopic(source))
	for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		rec := event("u", 1)
		if err := client.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	r := b.runner(t)
	start(t, r)
	testkit.Until(t, func() bool {
		lags, err := groups.Lags(t.Context(), b.topics.Client, group, source)
		if err != nil {
			return false // a group that is new has no coordinator yet
		}
		behind := int64(0)
		for _, lag := range lags[source] {
			behind += lag.Offsets()
		}
		return behind == 0
	}, "the group's offsets to be behind the markers")
	testkit.Until(t, func() bool { return r.done.Load() == 1 }, "the event to be counted")
	testkit.Until(t, func() bool {
		return r.series(t, "lag") == 0 && r.series(t, "oldest") == 0
	}, "the router to see that nothing is left")
}

// TestEachPartitionIsCountedOnce: runners that join one after the other while none ends
// a transaction between two revocations.
func TestEachPartitionIsCountedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)))
	b.client = b.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for num := range int32(topicConfig.Partitions) { // one to wait on each
		b.send(t, &kgo.Record{Topic: source, Partition: num})
	}
	var runners []*running
	counted := func(r *running) float64 { r.lookOnce(t.Context()); return r.series(t, "lag") }
	for _, id := range []string{"first", "second", "third"} {
		r, _ := b.fragile(t, id, "")
		r.stage = new(idle)
		runners = append(runners, r)
		start(t, r)
		testkit.Until(t, func() bool { return r.Ready() == nil && counted(r) > 0 }, "a runner to get partitions")
	}
	testkit.Until(t, func() bool {
		once := true
		for _, r := range runners {
			once = counted(r) == 1 && once
		}
		return once
	}, "each runner to count one of three partitions")
}

// idle is a stage that is never prepared.
type idle struct{ copier }

func (*idle) Prepare(ctx context.Context, _ kgo.Fetches, _ time.Duration) (int, error) {
	<-ctx.Done()
	return 0, context.Cause(ctx)
}
