package hanging

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/internal/lookup"
)

// Pending returns the partitions of a topic for which a group has committed in a
// transaction that the brokers have not ended, each with the offset that was
// committed before (-1: none). A member that gets one of them waits for that end
// before it reads: for milliseconds as a rule, and for ever if the brokers have
// forgotten it.
func Pending(ctx context.Context, cl *kgo.Client, group, topic string) (map[int32]int64, error) {
	admin := kadm.NewClient(cl)
	req, err := stableOffsets(ctx, admin, group, topic)
	if err != nil {
		return nil, err
	}
	resp, err := req.RequestWith(ctx, cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	switch {
	case errors.Is(err, kerr.GroupIDNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("fetch the stable offsets of group %s: %w", group, err)
	}
	pending := make(map[int32]int64)
	for i := range resp.Topics {
		for _, p := range resp.Topics[i].Partitions {
			if errors.Is(kerr.ErrorForCode(p.ErrorCode), kerr.UnstableOffsetCommit) {
				pending[p.Partition] = -1
			}
		}
	}
	if len(pending) == 0 {
		return nil, nil
	}
	committed, err := lookup.Committed(ctx, cl, group)
	if err != nil {
		return nil, err
	}
	for partition := range pending {
		if before, known := committed.Lookup(topic, partition); known {
			pending[partition] = before.At
		}
	}
	return pending, nil
}

// stableOffsets asks for each partition by its number: asked for all, brokers leave
// out those of which nothing was committed before.
func stableOffsets(ctx context.Context, admin *kadm.Client, group, topic string) (*kmsg.OffsetFetchRequest, error) {
	details, err := admin.ListTopics(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("look up topic %s: %w", topic, err)
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.RequireStable = group, true
	of := kmsg.NewOffsetFetchRequestTopic()
	of.Topic, of.Partitions = topic, details[topic].Partitions.Numbers()
	req.Topics = append(req.Topics, of)
	return req, nil
}

// Ending returns, by topic, the partitions that hold up the end of a
// transactional id's last transaction; none when it is not at its end. It has been
// decided then, and its markers are on their way: a partition without a leader can't
// take its own, and keeps whoever has the id from another transaction.
func Ending(ctx context.Context, cl *kgo.Client, transactionalID string) (map[string][]int32, error) {
	described, err := kadm.NewClient(cl).DescribeTransactions(ctx, transactionalID)
	if err == nil {
		err = described[transactionalID].Err
	}
	if err != nil {
		return nil, fmt.Errorf("describe the transaction of %q: %w", transactionalID, err)
	}
	transaction := described[transactionalID]
	if !strings.HasPrefix(transaction.State, "Prepare") {
		return nil, nil
	}
	topics := make(map[string][]int32, len(transaction.Topics))
	for topic, partitions := range transaction.Topics {
		for num := range partitions {
			topics[topic] = append(topics[topic], num)
		}
	}
	return topics, nil
}
