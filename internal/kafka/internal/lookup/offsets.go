package lookup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/waiting"
)

// Committed returns what a group has committed; nothing for one that does not exist.
// A cluster that has never had a group makes the topic of offsets first, which is
// waited for.
func Committed(ctx context.Context, cl *kgo.Client, group string) (kadm.OffsetResponses, error) {
	admin := kadm.NewClient(cl)
	for {
		committed, err := admin.FetchOffsets(ctx, group)
		err = errors.Join(err, committed.Error())
		switch {
		case err == nil, errors.Is(err, kerr.GroupIDNotFound):
			return committed, nil
		case !errors.Is(err, kerr.CoordinatorNotAvailable):
			return nil, fmt.Errorf("fetch the offsets of group %s: %w", group, err)
		}
		if !waiting.Sleep(ctx, coordinatorPause) {
			return nil, fmt.Errorf("fetch the offsets of group %s: %w: %w", group, context.Cause(ctx), err)
		}
	}
}

// coordinatorPause is between two questions to a group whose coordinator is not there
// yet.
const coordinatorPause = 100 * time.Millisecond

// Listed passes offsets on without the topics that do not exist.
func Listed(offsets kadm.ListedOffsets, err error) (kadm.ListedOffsets, error) {
	if err != nil {
		return nil, fmt.Errorf("list offsets: %w", err)
	}
	for topic, partitions := range offsets {
		for _, o := range partitions {
			switch {
			case errors.Is(o.Err, kerr.UnknownTopicOrPartition):
				delete(offsets, topic)
			case o.Err != nil:
				return nil, fmt.Errorf("list offsets of %s[%d]: %w", topic, o.Partition, o.Err)
			}
		}
	}
	return offsets, nil
}
