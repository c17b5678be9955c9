package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Leaderless returns the existing topics whose names begin with prefix, each with
// its partitions that have no leader, ascending; mostly none. What such a partition
// holds can be neither read nor written until one of its replicas is back.
func (t *Topics) Leaderless(ctx context.Context, prefix string) (map[string][]int32, error) {
	details, err := t.admin.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	topics := make(map[string][]int32)
	for name, detail := range details {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		var nums []int32
		for num, partition := range detail.Partitions {
			if partition.Leader < 0 {
				nums = append(nums, num)
			}
		}
		slices.Sort(nums)
		topics[name] = nums
	}
	return topics, nil
}

// Unfinished returns, by topic, the partitions that hold up the end of a
// transactional id's last transaction; none when it is not at its end. It has been
// decided then, and its markers are on their way: a partition without a leader can't
// take its own, and keeps whoever has the id from another transaction.
func (t *Topics) Unfinished(ctx context.Context, transactionalID string) (map[string][]int32, error) {
	described, err := t.admin.DescribeTransactions(ctx, transactionalID)
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
