package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Lag is how far a group is behind on a partition: offsets from Committed up to
// End, End excluded, are not finished. Committed is the start of the log where the
// group has none, or where retention has deleted what it had not read.
//
// The difference counts the markers of transactions too. The router and the sink
// commit past a marker behind their last record, other groups do not and stay one
// behind.
type Lag struct{ Committed, End int64 }

// Offsets is how many offsets are not finished, those of markers included.
func (l Lag) Offsets() int64 { return l.End - l.Committed }

// Progress is a group's lag on a partition with what else its commit says.
type Progress struct {
	Lag

	// Metadata is the text that was committed with the offset.
	Metadata string
	// Deleted is how many offsets retention deleted before the group had committed
	// them.
	Deleted int64
}

// Lag returns, by topic and partition, how far a group is behind for readers of
// committed records. Topics that do not exist are left out.
func (t *Topics) Lag(ctx context.Context, group string, topics ...string) (map[string]map[int32]Lag, error) {
	all, err := t.Progress(ctx, group, topics...)
	if err != nil {
		return nil, err
	}
	lags := make(map[string]map[int32]Lag, len(all))
	for topic, partitions := range all {
		lags[topic] = make(map[int32]Lag, len(partitions))
		for partition, progress := range partitions {
			lags[topic][partition] = progress.Lag
		}
	}
	return lags, nil
}

// Progress is [Topics.Lag] with what else the commits say.
func (t *Topics) Progress(ctx context.Context, group string, topics ...string) (map[string]map[int32]Progress, error) {
	if len(topics) == 0 {
		return map[string]map[int32]Progress{}, nil // the library takes none for all
	}
	topics = slices.Compact(slices.Sorted(slices.Values(topics))) // brokers refuse a request that names one twice
	committed, err := t.committed(ctx, group)
	if err != nil {
		return nil, err
	}
	// The ends are looked up last: what is committed is never beyond them then.
	starts, err := listed(t.admin.ListStartOffsets(ctx, topics...))
	if err != nil {
		return nil, err
	}
	ends, err := listed(t.admin.ListCommittedOffsets(ctx, topics...))
	if err != nil {
		return nil, err
	}
	all := make(map[string]map[int32]Progress, len(topics))
	for topic, partitions := range ends {
		all[topic] = make(map[int32]Progress, len(partitions))
		for partition, end := range partitions {
			commit, _ := committed.Lookup(topic, partition)
			all[topic][partition] = progressOf(commit, starts[topic][partition].Offset, end.Offset)
		}
	}
	return all, nil
}

// committed returns what a group has committed; nothing for one that does not exist.
// A cluster that has never had a group makes the topic of offsets first, which is
// waited for.
func (t *Topics) committed(ctx context.Context, group string) (kadm.OffsetResponses, error) {
	for {
		committed, err := t.admin.FetchOffsets(ctx, group)
		err = errors.Join(err, committed.Error())
		switch {
		case err == nil, errors.Is(err, kerr.GroupIDNotFound):
			return committed, nil
		case !errors.Is(err, kerr.CoordinatorNotAvailable):
			return nil, fmt.Errorf("fetch the offsets of group %s: %w", group, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("fetch the offsets of group %s: %w: %w", group, context.Cause(ctx), err)
		case <-time.After(coordinatorPause):
		}
	}
}

// coordinatorPause is between two questions to a group whose coordinator is not there
// yet.
const coordinatorPause = 100 * time.Millisecond

// progressOf puts a commit in relation to what its partition holds. The zero value
// is no commit. One beyond the end is that of a topic which was deleted and made
// anew.
func progressOf(commit kadm.OffsetResponse, start, end int64) Progress {
	start = min(start, end)
	switch at := commit.At; {
	case commit.Topic == "" || at < 0 || at > end:
		return Progress{Lag: Lag{Committed: start, End: end}}
	case at < start:
		return Progress{Lag: Lag{Committed: start, End: end}, Deleted: start - at}
	default:
		return Progress{Lag: Lag{Committed: at, End: end}, Metadata: commit.Metadata}
	}
}

// listed passes offsets on without the topics that do not exist.
func listed(offsets kadm.ListedOffsets, err error) (kadm.ListedOffsets, error) {
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

// Newest returns the latest time stamp on some topics, as whoever wrote it saw the
// time. It is zero where they are empty or do not exist, and on brokers that do not
// tell (Apache Kafka before 3.0).
func (t *Topics) Newest(ctx context.Context, topics ...string) (time.Time, error) {
	if len(topics) == 0 {
		return time.Time{}, nil // the library takes none for all
	}
	offsets, err := t.admin.ListMaxTimestampOffsets(ctx, topics...)
	if errors.Is(err, kerr.UnsupportedVersion) {
		return time.Time{}, nil
	}
	if offsets, err = listed(offsets, err); err != nil {
		return time.Time{}, err
	}
	newest := int64(0)
	for _, partitions := range offsets {
		for _, o := range partitions {
			newest = max(newest, o.Timestamp)
		}
	}
	if newest == 0 {
		return time.Time{}, nil
	}
	return time.UnixMilli(newest).UTC(), nil
}
