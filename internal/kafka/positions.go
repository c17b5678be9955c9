package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Commit is what a group has committed for a partition.
type Commit struct {
	Offset   int64
	Metadata string
}

// Commits returns what a group has committed for a topic, by partition; nothing for
// partitions without a commit.
func (t *Topics) Commits(ctx context.Context, group, topic string) (map[int32]Commit, error) {
	committed, err := t.committed(ctx, group)
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

// lastingCommits is the last version of a commit that may say how long the broker
// has to remember it; those of later versions are forgotten with their group, seven
// days after its last member has left (offsets.retention.minutes).
const lastingCommits = 4

// LastingVersions are those of the protocol that the client of [CommitLasting] may
// speak.
func LastingVersions() *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(kmsg.OffsetCommit.Int16(), lastingCommits)
	return v
}

// lasting is how long a lasting commit is to be remembered: the brokers add it to
// the present time, which must not overflow.
const lasting = math.MaxInt64 / 4

// CommitLasting commits offsets for a group that has no members, and asks the broker
// to keep them until the topic is deleted, or the group. The client has to be limited
// to [LastingVersions]. A broker that does not offer to remember some offsets for
// longer than others forgets these with the rest.
func CommitLasting(ctx context.Context, client *kgo.Client, group, topic string, commits map[int32]Commit) error {
	if len(commits) == 0 {
		return nil
	}
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = topic
	for partition, c := range commits {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.Metadata = partition, c.Offset, &c.Metadata
		t.Partitions = append(t.Partitions, p)
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation, req.RetentionTimeMillis = group, -1, lasting
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("commit offsets of group %s: %w", group, err)
	}
	var errs []error
	for _, answered := range resp.Topics {
		for _, p := range answered.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				errs = append(errs, fmt.Errorf("commit %s[%d] of group %s: %w", topic, p.Partition, group, err))
			}
		}
	}
	return errors.Join(errs...)
}
