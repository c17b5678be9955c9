package ranges

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/internal/lookup"
	"github.com/anabranch/anabranch/internal/waiting"
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
		return nil, about(err, topic)
	}
	ends, err := lookup.Listed(admin.ListCommittedOffsets(ctx, topic))
	if err != nil {
		return nil, about(err, topic)
	}
	ranges := make(map[int32]Range, len(ends[topic]))
	for partition, end := range ends[topic] {
		ranges[partition] = Range{Start: min(starts[topic][partition].Offset, end.Offset), End: end.Offset}
	}
	return ranges, nil
}

// about says which topics an error is about: brokers that refuse some do not.
func about(err error, topics ...string) error {
	const named = 3
	if more := len(topics) - named; more > 0 {
		return fmt.Errorf("on %s and %d more: %w", strings.Join(topics[:named], ", "), more, err)
	}
	return fmt.Errorf("on %s: %w", strings.Join(topics, ", "), err)
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

// awaitPause is between two looks at what readers are shown.
const awaitPause = 50 * time.Millisecond

// Await returns once readers of committed records are shown all that stood on some topics
// when it was called: a transaction that is open hides what others have written behind it.
// What is still hidden when the time is over is returned, as "topic[partition]" in order.
func Await(ctx context.Context, cl *kgo.Client, within time.Duration, topics ...string) (hidden []string, err error) {
	if len(topics) == 0 {
		return nil, nil // the library takes none for all
	}
	admin := kadm.NewClient(cl)
	ends, err := lookup.Listed(admin.ListEndOffsets(ctx, topics...))
	if err != nil {
		return nil, about(err, topics...)
	}
	for by := time.Now().Add(within); ; {
		shown, err := lookup.Listed(admin.ListCommittedOffsets(ctx, topics...))
		if err != nil {
			return nil, about(err, topics...)
		}
		hidden = nil
		ends.Each(func(end kadm.ListedOffset) {
			if now, there := shown.Lookup(end.Topic, end.Partition); there && now.Offset < end.Offset {
				hidden = append(hidden, fmt.Sprintf("%s[%d]", end.Topic, end.Partition))
			}
		})
		if len(hidden) == 0 || !time.Now().Before(by) {
			slices.Sort(hidden)
			return hidden, nil
		}
		if !waiting.Sleep(ctx, awaitPause) {
			return nil, context.Cause(ctx)
		}
	}
}
