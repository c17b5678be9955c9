package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Pending returns the partitions of a topic for which a group has committed in a
// transaction that the brokers have not ended, each with the offset that was
// committed before (-1: none). A member that gets one of them waits for that end
// before it reads: for milliseconds as a rule, and for ever if the brokers have
// forgotten it.
func (t *Topics) Pending(ctx context.Context, group, topic string) (map[int32]int64, error) {
	stable, err := t.admin.FetchOffsets(kadm.RequireStable(ctx), group)
	switch {
	case errors.Is(err, kerr.GroupIDNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("fetch the stable offsets of group %s: %w", group, err)
	}
	pending := make(map[int32]int64)
	for partition, commit := range stable[topic] {
		if errors.Is(commit.Err, kerr.UnstableOffsetCommit) {
			pending[partition] = -1
		}
	}
	if len(pending) == 0 {
		return nil, nil
	}
	committed, err := t.committed(ctx, group)
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
