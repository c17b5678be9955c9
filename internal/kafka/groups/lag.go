package groups

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/internal/lookup"
)

// Lag is how far a group is behind on a partition: offsets from Committed up to
// End, End excluded, are not finished. Committed is the start of the log where the
// group has none, or where retention has deleted what it had not read.
//
// The difference counts the markers of transactions too. The router and the sink
// commit past a marker behind their last record, other groups do not and stay one
// behind.
type Lag struct {
	Committed, End int64

	// Metadata is the text that was committed with the offset.
	Metadata string
	// Deleted is how many offsets retention deleted before the group had committed
	// them.
	Deleted int64
}

// Offsets is how many offsets are not finished, those of markers included.
func (l Lag) Offsets() int64 { return l.End - l.Committed }

// Lags returns, by topic and partition, how far a group is behind for readers of
// committed records. Topics that do not exist are left out.
func Lags(ctx context.Context, cl *kgo.Client, group string, topics ...string) (map[string]map[int32]Lag, error) {
	if len(topics) == 0 {
		return map[string]map[int32]Lag{}, nil // the library takes none for all
	}
	topics = slices.Compact(slices.Sorted(slices.Values(topics))) // brokers refuse a request that names one twice
	committed, err := lookup.Committed(ctx, cl, group)
	if err != nil {
		return nil, err
	}
	// The ends are looked up last: what is committed is never beyond them then.
	admin := kadm.NewClient(cl)
	starts, err := lookup.Listed(admin.ListStartOffsets(ctx, topics...))
	if err != nil {
		return nil, err
	}
	ends, err := lookup.Listed(admin.ListCommittedOffsets(ctx, topics...))
	if err != nil {
		return nil, err
	}
	all := make(map[string]map[int32]Lag, len(topics))
	for topic, partitions := range ends {
		all[topic] = make(map[int32]Lag, len(partitions))
		for partition, end := range partitions {
			commit, _ := committed.Lookup(topic, partition)
			all[topic][partition] = lagOf(commit, starts[topic][partition].Offset, end.Offset)
		}
	}
	return all, nil
}

// lagOf puts a commit in relation to what its partition holds. The zero value
// is no commit. One beyond the end is that of a topic which was deleted and made
// anew.
func lagOf(commit kadm.OffsetResponse, start, end int64) Lag {
	start = min(start, end)
	switch at := commit.At; {
	case commit.Topic == "" || at < 0 || at > end:
		return Lag{Committed: start, End: end}
	case at < start:
		return Lag{Committed: start, End: end, Deleted: start - at}
	default:
		return Lag{Committed: at, End: end, Metadata: commit.Metadata}
	}
}
