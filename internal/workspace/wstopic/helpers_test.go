package wstopic

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// publisher returns a publisher that really creates topics.
func publisher(tb testing.TB, c *testkit.Cluster) *Publisher {
	tb.Helper()
	admin := kadm.NewClient(c.Client(tb))
	return &Publisher{
		Kafka: c.Options(),
		Ensure: func(ctx context.Context, _ map[string]schemas.Export, topics ...string) error {
			for _, topic := range topics {
				_, err := admin.CreateTopic(ctx, 1, -1, nil, topic)
				if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
					return err
				}
			}
			return nil
		},
	}
}

func apply(tb testing.TB, p *Publisher, next *workspace.Snapshot) []workspace.Change {
	tb.Helper()
	changes, err := p.Apply(timeout(tb), next)
	if err != nil {
		tb.Fatalf("Apply: %v", err)
	}
	return changes
}

func read(tb testing.TB, c *testkit.Cluster) State {
	tb.Helper()
	state, err := Read(timeout(tb), c.Options())
	if err != nil {
		tb.Fatalf("Read: %v", err)
	}
	return state
}

func timeout(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 2*time.Minute)
	tb.Cleanup(cancel)
	return ctx
}

// write produces records outside of any transaction, as other tools would.
func write(tb testing.TB, c *testkit.Cluster, records ...*kgo.Record) {
	tb.Helper()
	cl := c.Client(tb, kgo.DefaultProduceTopic(schemas.TopicWorkspace), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := cl.ProduceSync(timeout(tb), records...).FirstErr(); err != nil {
		tb.Fatalf("produce: %v", err)
	}
}

func record(key, value string) *kgo.Record {
	return &kgo.Record{Key: []byte(key), Value: []byte(value)}
}

// transaction leaves a transaction open that wrote records, and returns what
// ends it.
func transaction(tb testing.TB, c *testkit.Cluster, records ...*kgo.Record) func(kgo.TransactionEndTry) {
	tb.Helper()
	cl := c.Client(tb, kgo.TransactionalID("test"), kgo.DefaultProduceTopic(schemas.TopicWorkspace), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := cl.BeginTransaction(); err != nil {
		tb.Fatal(err)
	}
	if err := cl.ProduceSync(timeout(tb), records...).FirstErr(); err != nil {
		tb.Fatalf("produce: %v", err)
	}
	return func(try kgo.TransactionEndTry) {
		tb.Helper()
		if err := cl.EndTransaction(timeout(tb), try); err != nil {
			tb.Fatalf("end the transaction: %v", err)
		}
	}
}

// following runs a follower until the test ends.
func following(tb testing.TB, opts []kgo.Opt, edit ...func(*FollowerSettings)) (*Follower, *workspace.Live, *testkit.Logs) {
	tb.Helper()
	live, out := workspace.NewLive(workspace.NewSnapshot(nil, nil)), new(testkit.Logs)
	set := FollowerSettings{Logger: out.Logger(), Registerer: prometheus.NewRegistry(), Kafka: opts, Live: live}
	for _, change := range edit {
		change(&set)
	}
	f := NewFollower(set)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Errorf("Run: %v", err)
		}
	})
	return f, live, out
}

// ready waits for the follower.
func ready(tb testing.TB, f *Follower) {
	tb.Helper()
	testkit.Until(tb, func() bool { return f.Ready() == nil }, "the follower to be ready")
}

// inForce waits until the destinations in force are those with ids.
func inForce(tb testing.TB, live *workspace.Live, ids ...string) {
	tb.Helper()
	testkit.Until(tb, func() bool { return slices.Equal(wstest.IDs(live.Load()), ids) }, "the destinations in force to be as expected")
}
