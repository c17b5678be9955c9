package ranges

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/internal/lookup"
)

// Range is what a partition holds for readers of committed records: offsets
// from Start up to End, End excluded.
type Range struct{ Start, End int64 }

// List returns the range of each partition of a topic; none for a topic that
// does not exist. With a since that is not zero a range begins with the first
// record that is not older.
func List(ctx context.Context, cl *kgo.Client, topic string, since time.Time) (map[int32]Range, error) {
	admin := kadm.NewClient(cl)
	list := admin.ListStartOffsets
	if !since.IsZero() {
		list = func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
			return admin.ListOffsetsAfterMilli(ctx, since.UnixMilli(), topics...)
		}
	}
	starts, err := lookup.Listed(list(ctx, topic))
	if err != nil {
		return nil, err
	}
	ends, err := lookup.Listed(admin.ListCommittedOffsets(ctx, topic))
	if err != nil {
		return nil, err
	}
	ranges := make(map[int32]Range, len(ends[topic]))
	for partition, end := range ends[topic] {
		ranges[partition] = Range{Start: min(starts[topic][partition].Offset, end.Offset), End: end.Offset}
	}
	return ranges, nil
}

// Newest returns the latest time stamp on some topics, as whoever wrote it saw the
// time. It is zero where they are empty or do not exist, and on brokers that do not
// tell (Apache Kafka before 3.0).
func Newest(ctx context.Context, cl *kgo.Client, topics ...string) (time.Time, error) {
	if len(topics) == 0 {
		return time.Time{}, nil // the library takes none for all
	}
	offsets, err := kadm.NewClient(cl).ListMaxTimestampOffsets(ctx, topics...)
	if errors.Is(err, kerr.UnsupportedVersion) {
		return time.Time{}, nil
	}
	if offsets, err = lookup.Listed(offsets, err); err != nil {
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
