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
