package place

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
)

// processedBefore reports whether anything of the source may have been processed, of
// which the group knows nothing.
func (f *Finder) processedBefore(ctx context.Context, extents map[string]map[int32]kafka.Extent) (bool, error) {
	if f.Outputs == "" {
		return false, nil
	}
	topics, err := f.Topics.List(ctx, f.Outputs)
	if err != nil {
		return false, err
	}
	// The first source is the one whose records lead to all that is written.
	fresh, err := f.fresh(ctx, extents[f.Sources[0]], topics)
	if err != nil || fresh {
		return false, err
	}
	return f.history(ctx, topics)
}

// fresh reports whether the source was made anew since anything was processed: it holds
// nothing yet, or nothing that is not later than all that was written. Brokers delete a group's offsets with
// the topic, and people make it anew to give it more partitions.
func (f *Finder) fresh(ctx context.Context, extents map[int32]kafka.Extent, topics []string) (bool, error) {
	all, err := f.Topics.Partitions(ctx, f.Sources[0])
	if err != nil || all != len(extents) {
		return false, err // of one without a leader nothing is known
	}
	newest, err := ranges.Newest(ctx, f.Topics.Client, topics...)
	if err != nil {
		f.Log.Debug("look at the newest events that were written failed", "error", err)
		return false, nil // as where one has no leader; history asks again
	}
	times := make(map[int32]time.Time)
	for num, extent := range extents {
		if extent.Start < extent.End {
			times[num] = newest
		}
	}
	if len(times) == 0 || newest.IsZero() {
		return len(times) == 0, nil
	}
	first, err := f.Topics.FirstAfter(ctx, f.Sources[0], times)
	for num := range times {
		if at, ok := first[num]; !ok || at > extents[num].Start {
			return false, err
		}
	}
	return true, err
}

// history reports whether anything was ever written to a topic that there still is. Ends
// of topics never go back, but they tell of aborted transactions too: the first of a new
// installation may have been one. So where all is there that a topic has ever held, it
// is read. A partition without a leader tells nothing, and the others of its topic tell
// enough; not so a topic without any.
func (f *Finder) history(ctx context.Context, topics []string) (bool, error) {
	extents, err := f.Topics.Extents(ctx, topics...)
	if err != nil {
		return false, err
	}
	var unread []*ranges.Span
	for _, topic := range topics {
		if len(extents[topic]) == 0 {
			return false, fmt.Errorf("%s: the brokers do not tell what it holds", topic)
		}
		for num, extent := range extents[topic] {
			if extent.Start > 0 {
				return true, nil
			}
			unread = append(unread, &ranges.Span{Topic: topic, Partition: num, End: extent.Stable})
		}
	}
	err = ranges.Read(ctx, f.Kafka, unread, ranges.Limits{}, func(*ranges.Span, *kgo.Record) error { return errFound })
	switch {
	case errors.Is(err, errFound), errors.Is(err, kerr.TopicAuthorizationFailed):
		return true, nil // who may write to them need not be allowed to read: there may be something
	case err != nil:
		return false, fmt.Errorf("read what was written: %w", err)
	}
	return false, nil
}

// errFound ends the search at the first record.
var errFound = errors.New("something was written")
