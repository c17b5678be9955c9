package docstest

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// What follows up to the next mark is the sample of docs/topic-destinations.md
// (TestTheGoReaderIsTheTestedOne).
// sample:begin

// follow hands the events of a topic to load, batch after batch, until ctx ends. Members of
// one group share its partitions. A batch whose load fails, or whose member dies, comes again.
func follow(ctx context.Context, group, topic string, load func([]*kgo.Record) error, opts ...kgo.Opt) error {
	client, err := kgo.NewClient(append(opts,
		kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), // the library's default is to read all
		kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll())...)
	if err != nil {
		return fmt.Errorf("create the client: %w", err)
	}
	defer client.CloseAllowingRebalance()
	for {
		fetches := client.PollRecords(ctx, 10_000)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("read %s: %w", topic, err)
		}
		records := fetches.Records()
		if err := load(records); err != nil {
			return fmt.Errorf("load %d events: %w", len(records), err)
		}
		if err := client.CommitRecords(ctx, records...); err != nil {
			return fmt.Errorf("commit %d events: %w", len(records), err)
		}
		client.AllowRebalance() // partitions change hands between batches alone
	}
}

// sample:end
