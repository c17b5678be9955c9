package kafka

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/internal/lookup"
)

// Topics asks the brokers about positions and leaders.
type Topics struct {
	client *kgo.Client
	admin  *kadm.Client
}

// NewTopics asks through the given client, which stays the caller's to close.
func NewTopics(cl *kgo.Client) *Topics { return &Topics{client: cl, admin: kadm.NewClient(cl)} }

// Partition is one of a topic.
type Partition struct {
	Topic string
	Num   int32
}

// String is how logs and errors name it.
func (p Partition) String() string { return fmt.Sprintf("%s[%d]", p.Topic, p.Num) }

// Compare orders partitions by topic and number.
func (p Partition) Compare(o Partition) int {
	return cmp.Or(cmp.Compare(p.Topic, o.Topic), cmp.Compare(p.Num, o.Num))
}

// Partitions are those that clients name by topic, in order.
func Partitions(byTopic map[string][]int32) []Partition {
	var all []Partition
	for topic, nums := range byTopic {
		for _, num := range nums {
			all = append(all, Partition{topic, num})
		}
	}
	slices.SortFunc(all, Partition.Compare)
	return all
}

// Commit is what a group has committed for a partition.
type Commit struct {
	Offset   int64
	Metadata string
}

// Commits returns what a group has committed for a topic, by partition; nothing for
// partitions without a commit.
func (t *Topics) Commits(ctx context.Context, group, topic string) (map[int32]Commit, error) {
	committed, err := lookup.Committed(ctx, t.client, group)
	if err != nil {
		return nil, err
	}
	commits := make(map[int32]Commit, len(committed[topic]))
	for partition, c := range committed[topic] {
		if c.At >= 0 {
			commits[partition] = Commit{Offset: c.At, Metadata: c.Metadata}
		}
	}
	return commits, nil
}

// Extent is what a partition holds: offsets from Start up to End, End excluded.
// Readers of committed records see no further than Stable: there the first
// transaction begins that is still open.
type Extent struct{ Start, Stable, End int64 }

// Extents returns the extent of each partition of the topics. Topics that do not
// exist are left out, and so are partitions that no leader answers for.
func (t *Topics) Extents(ctx context.Context, topics ...string) (map[string]map[int32]Extent, error) {
	if len(topics) == 0 {
		return map[string]map[int32]Extent{}, nil // the library takes none for all
	}
	starts, err := answered(t.admin.ListStartOffsets(ctx, topics...))
	if err != nil {
		return nil, err
	}
	stables, err := answered(t.admin.ListCommittedOffsets(ctx, topics...))
	if err != nil {
		return nil, err
	}
	// The ends are looked up last: nothing else is beyond them then.
	ends, err := answered(t.admin.ListEndOffsets(ctx, topics...))
	if err != nil {
		return nil, err
	}
	all := make(map[string]map[int32]Extent, len(topics))
	for topic, partitions := range ends {
		all[topic] = make(map[int32]Extent, len(partitions))
		for partition, end := range partitions {
			start, begun := starts[topic][partition]
			stable, decided := stables[topic][partition]
			if begun && decided {
				all[topic][partition] = Extent{Start: start.Offset, Stable: stable.Offset, End: end.Offset}
			}
		}
	}
	return all, nil
}

// Ends returns, by topic and partition, the offset behind the last record. Topics that
// do not exist are left out, and so are partitions whose leader does not answer; an
// error is about some of them, or all.
func (t *Topics) Ends(ctx context.Context, topics ...string) (map[string]map[int32]int64, error) {
	if len(topics) == 0 {
		return nil, nil // the library takes none for all
	}
	listed, err := t.admin.ListEndOffsets(ctx, topics...)
	if err != nil {
		err = fmt.Errorf("list the ends of topics: %w", err)
	}
	ends := make(map[string]map[int32]int64, len(listed))
	for topic, partitions := range listed {
		ends[topic] = make(map[int32]int64, len(partitions))
		for partition, at := range partitions {
			if at.Err == nil {
				ends[topic][partition] = at.Offset
			}
		}
	}
	return ends, err
}

// answered leaves out the partitions of which no leader has told. The error is about
// all of them.
func answered(offsets kadm.ListedOffsets, err error) (kadm.ListedOffsets, error) {
	if err != nil && len(offsets) == 0 {
		return nil, fmt.Errorf("list offsets: %w", err)
	}
	for _, partitions := range offsets {
		maps.DeleteFunc(partitions, func(_ int32, o kadm.ListedOffset) bool { return o.Err != nil })
	}
	maps.DeleteFunc(offsets, func(_ string, partitions map[int32]kadm.ListedOffset) bool { return len(partitions) == 0 })
	return offsets, nil
}

// FirstAfter returns for each of the partitions the offset of its first record with
// a later time stamp than the one given. Partitions that hold none are left out.
func (t *Topics) FirstAfter(ctx context.Context, topic string, times map[int32]time.Time) (map[int32]int64, error) {
	wanted := kmsg.NewListOffsetsRequestTopic()
	wanted.Topic = topic
	for partition, at := range times {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = partition, at.UnixMilli()+1
		wanted.Partitions = append(wanted.Partitions, p)
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	req.Topics = append(req.Topics, wanted)
	resp, err := req.RequestWith(ctx, t.client)
	if err != nil {
		return nil, fmt.Errorf("list offsets of %s by time: %w", topic, err)
	}
	first := make(map[int32]int64, len(times))
	for _, answered := range resp.Topics {
		for _, p := range answered.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("list offsets of %s[%d] by time: %w", topic, p.Partition, err)
			}
			if p.Offset >= 0 {
				first[p.Partition] = p.Offset
			}
		}
	}
	return first, nil
}
