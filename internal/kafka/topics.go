package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// TopicConfig holds the settings of topics when they are created. They never
// change a topic that exists: more partitions would move keys to other
// partitions and break the order of their events.
type TopicConfig struct {
	Partitions        int           `env:"TOPIC_PARTITIONS" envDefault:"6" desc:"partitions of raw-events, the retry topics and dead-letters when they are created"`
	DeliverPartitions int           `env:"DELIVER_TOPIC_PARTITIONS" envDefault:"0" desc:"partitions of each destination's topic when it is created; 0: 6 for the first 50 destinations, 2 up to 300, 1 beyond"`
	Replication       int           `env:"TOPIC_REPLICATION" envDefault:"-1" desc:"replicas of each topic when it is created; -1: the broker's default"`
	RawRetention      time.Duration `env:"RAW_EVENTS_RETENTION" envDefault:"720h" desc:"how long raw-events keeps an event"`
	RawBytes          int           `env:"RAW_EVENTS_RETENTION_BYTES" envDefault:"0" desc:"bytes of raw-events to keep per partition; 0: no bound on Kafka, 128 MiB on the embedded broker"`
	// Embedded is true for the embedded broker, whose compaction is not safe
	// against a crash: topics that hold state are kept whole there, and their
	// readers take the last record of each key.
	Embedded bool
}

// Validate reports every setting that cannot work.
func (c TopicConfig) Validate() error {
	var errs []error
	if c.Partitions < 1 || c.Partitions > maxPartitions {
		errs = append(errs, fmt.Errorf("TOPIC_PARTITIONS=%d: expected 1 to %d", c.Partitions, maxPartitions))
	}
	if c.DeliverPartitions < 0 || c.DeliverPartitions > maxPartitions {
		errs = append(errs, fmt.Errorf("DELIVER_TOPIC_PARTITIONS=%d: expected 1 to %d, or 0 to choose by the number of destinations", c.DeliverPartitions, maxPartitions))
	}
	if c.Replication != -1 && (c.Replication < 1 || c.Replication > 100) {
		errs = append(errs, fmt.Errorf("TOPIC_REPLICATION=%d: expected 1 to 100, or -1 for the broker's default", c.Replication))
	}
	if c.RawBytes < 0 {
		errs = append(errs, fmt.Errorf("RAW_EVENTS_RETENTION_BYTES=%d: expected 0 or a number of bytes", c.RawBytes))
	}
	if c.RawRetention < time.Hour {
		errs = append(errs, fmt.Errorf("RAW_EVENTS_RETENTION=%s: expected at least 1h", c.RawRetention))
	}
	return errors.Join(errs...)
}

const maxPartitions = 10_000

const (
	backlogRetention    = 7 * 24 * time.Hour
	deadLetterRetention = 30 * 24 * time.Hour
	// A note that a dead letter was sent again has to outlive the dead letter, which
	// its broker deletes with the segment it stands in: up to a segment's age late.
	redrivenRetention = 2 * deadLetterRetention

	// The embedded broker reads its whole log into memory when it starts: about
	// one gigabyte resident per gigabyte of log after a kill. So there the history
	// of events is bounded in bytes, which the router, a few milliseconds behind
	// in the same process, does not notice; and a destination's topic and those
	// of retries in time alone, because a destination that hangs leaves a backlog
	// there that must not be cut.
	embeddedRawBytes         = 128 << 20
	embeddedBacklogRetention = 24 * time.Hour
)

// policy is what a topic is created with.
type policy struct {
	partitions int
	configs    map[string]string
}

// policyOf knows the policy of each topic from its name (the table "Topics" of
// DESIGN.md), so that it makes no difference which stage meets a topic first.
func (c TopicConfig) policyOf(name string) (policy, error) {
	_, deliver := schemas.DestinationOf(name)
	_, retry := schemas.RetryDelayOf(name)
	switch {
	case name == schemas.TopicRawEvents:
		return policy{c.Partitions, c.history()}, nil
	case name == schemas.TopicDeadLetters:
		return policy{c.Partitions, expire(deadLetterRetention)}, nil
	case name == schemas.TopicRedriven:
		// One partition: each transaction of a redrive writes to it.
		return policy{1, expire(redrivenRetention)}, nil
	case name == schemas.TopicWorkspace:
		return policy{1, c.keepLast()}, nil
	case deliver:
		return policy{c.DeliverPartitions, c.backlog()}, nil // 0 is for createAll to fill in
	case retry:
		return policy{c.Partitions, c.backlog()}, nil
	default:
		return policy{}, fmt.Errorf("create topic %q: expected one of Anabranch's topics", name)
	}
}

func expire(after time.Duration) map[string]string {
	return map[string]string{"cleanup.policy": "delete", "retention.ms": strconv.FormatInt(after.Milliseconds(), 10)}
}

func (c TopicConfig) history() map[string]string {
	configs := expire(c.RawRetention)
	switch {
	case c.RawBytes > 0:
		configs["retention.bytes"] = strconv.Itoa(c.RawBytes)
	case c.Embedded:
		configs["retention.bytes"] = strconv.Itoa(embeddedRawBytes)
	}
	return configs
}

func (c TopicConfig) backlog() map[string]string {
	if c.Embedded {
		return expire(embeddedBacklogRetention)
	}
	return expire(backlogRetention)
}

func (c TopicConfig) keepLast() map[string]string {
	if c.Embedded {
		return map[string]string{"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
	}
	return map[string]string{"cleanup.policy": "compact"}
}

// Topics creates and lists topics.
type Topics struct {
	admin  *kadm.Client
	config TopicConfig
}

// NewTopics speaks to the brokers through the given client, which stays the
// caller's to close.
func NewTopics(cl *kgo.Client, config TopicConfig) *Topics {
	return &Topics{admin: kadm.NewClient(cl), config: config}
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
	if err != nil {
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
