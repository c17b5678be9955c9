package kafka

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
)

// Topics creates, lists and checks topics.
type Topics struct {
	client *kgo.Client
	admin  *kadm.Client
	config TopicConfig
}

// NewTopics speaks to the brokers through the given client, which stays the
// caller's to close.
func NewTopics(cl *kgo.Client, config TopicConfig) *Topics {
	return &Topics{client: cl, admin: kadm.NewClient(cl), config: config}
}

// Ensure creates those of the named topics that do not exist and returns when
// all of them are visible with a leader, so that a producer that hears of a
// topic afterwards never meets "unknown topic".
func (t *Topics) Ensure(ctx context.Context, names ...string) error {
	names = slices.Compact(slices.Sorted(slices.Values(names))) // brokers refuse a request that names one twice
	for {
		missing, err := t.missing(ctx, names)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			return nil
		}
		if err := t.createAll(ctx, missing); err != nil {
			return err
		}
		// A created topic shows up once its metadata has spread over the
		// cluster; the next look is what tells.
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for topics %s to be visible: %w", strings.Join(missing, ", "), context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (t *Topics) missing(ctx context.Context, names []string) ([]string, error) {
	details, err := t.admin.ListTopics(ctx, names...)
	switch {
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return nil, fmt.Errorf("see topics %s: %w", strings.Join(t.hidden(ctx, names), ", "), unseen(err))
	case err != nil:
		return nil, fmt.Errorf("list topics: %w", err)
	}
	var missing []string
	for _, name := range names {
		if !visible(details[name]) {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

func visible(d kadm.TopicDetail) bool {
	if d.Err != nil || len(d.Partitions) == 0 {
		return false
	}
	for _, p := range d.Partitions {
		if p.Leader < 0 {
			return false
		}
	}
	return true
}

// ID returns the id of a topic, which tells it from those that bore its name before;
// empty where the brokers do not say.
func (t *Topics) ID(ctx context.Context, topic string) (string, error) {
	details, err := t.admin.ListTopics(ctx, topic)
	if err != nil {
		return "", fmt.Errorf("look up topic %s: %w", topic, err)
	}
	if id := details[topic].ID; id != (kadm.TopicID{}) {
		return id.String(), nil
	}
	return "", nil
}

// List returns the names of the existing topics that begin with prefix, sorted.
func (t *Topics) List(ctx context.Context, prefix string) ([]string, error) {
	details, err := t.admin.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	var names []string
	for _, name := range details.Names() {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Range is what a partition holds for readers of committed records: offsets
// from Start up to End, End excluded.
type Range struct{ Start, End int64 }

// Ranges returns the range of each partition of a topic; none for a topic that
// does not exist. With a since that is not zero a range begins with the first
// record that is not older.
func (t *Topics) Ranges(ctx context.Context, topic string, since time.Time) (map[int32]Range, error) {
	list := t.admin.ListStartOffsets
	if !since.IsZero() {
		list = func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
			return t.admin.ListOffsetsAfterMilli(ctx, since.UnixMilli(), topics...)
		}
	}
	starts, err := list(ctx, topic)
	if err = errors.Join(err, starts.Error()); err != nil {
		return nil, unlisted(topic, err)
	}
	ends, err := t.admin.ListCommittedOffsets(ctx, topic)
	if err = errors.Join(err, ends.Error()); err != nil {
		return nil, unlisted(topic, err)
	}
	ranges := make(map[int32]Range, len(ends[topic]))
	for partition, end := range ends[topic] {
		ranges[partition] = Range{Start: min(starts[topic][partition].Offset, end.Offset), End: end.Offset}
	}
	return ranges, nil
}

// unlisted is the error of a look at a topic's offsets; nil when the topic does
// not exist.
func unlisted(topic string, err error) error {
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return nil
	}
	return fmt.Errorf("list the offsets of %s: %w", topic, err)
}
