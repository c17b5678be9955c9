package kafka

import (
	"context"
	"fmt"
)

// Partitions returns how many partitions the named topics have together. Topics
// that do not exist have none.
func (t *Topics) Partitions(ctx context.Context, names ...string) (int, error) {
	details, err := t.admin.ListTopics(ctx, names...)
	if err != nil {
		return 0, fmt.Errorf("look up topics %v: %w", names, err)
	}
	count := 0
	for _, d := range details {
		count += len(d.Partitions)
	}
	return count, nil
}
