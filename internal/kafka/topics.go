package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	DeliverPartitions int           `env:"DELIVER_TOPIC_PARTITIONS" envDefault:"6" desc:"partitions of each destination's topic when it is created; 1 beyond about 300 destinations"`
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
	for name, n := range map[string]int{"TOPIC_PARTITIONS": c.Partitions, "DELIVER_TOPIC_PARTITIONS": c.DeliverPartitions} {
		if n < 1 || n > 10_000 {
			errs = append(errs, fmt.Errorf("%s=%d: expected 1 to 10000", name, n))
		}
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

const (
	deliverRetention    = 7 * 24 * time.Hour
	retryRetention      = 24 * time.Hour
	deadLetterRetention = 30 * 24 * time.Hour

	// The embedded broker reads its whole log into memory when it starts: about
	// one gigabyte resident per gigabyte of log after a kill. So there the history
	// of events is bounded in bytes, which the router, a few milliseconds behind
	// in the same process, does not notice; and a destination's topic in time
	// alone, because a destination that hangs leaves a backlog there that must
	// not be cut.
	embeddedRawBytes         = 128 << 20
	embeddedDeliverRetention = 24 * time.Hour
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
	case name == schemas.TopicWorkspace:
		return policy{1, c.keepLast()}, nil
	case deliver:
		return policy{c.DeliverPartitions, c.backlog()}, nil
	case retry:
		return policy{c.Partitions, expire(retryRetention)}, nil
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
		return expire(embeddedDeliverRetention)
	}
	return expire(deliverRetention)
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
	for {
		missing, err := t.missing(ctx, names)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			return nil
		}
		for _, name := range missing {
			if err := t.create(ctx, name); err != nil {
				return err
			}
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

func (t *Topics) create(ctx context.Context, name string) error {
	p, err := t.config.policyOf(name)
	if err != nil {
		return err
	}
	configs := make(map[string]*string, len(p.configs))
	for key, value := range p.configs {
		configs[key] = &value
	}
	_, err = t.admin.CreateTopic(ctx, int32(p.partitions), int16(t.config.Replication), configs, name)
	// Several processes start at once, and a topic can exist without being
	// visible yet.
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		return fmt.Errorf("create topic %s with %d partitions, %s: %w", name, p.partitions, describe(p.configs), err)
	}
	return nil
}

func describe(configs map[string]string) string {
	var b strings.Builder
	for i, key := range slices.Sorted(maps.Keys(configs)) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(key + "=" + configs[key])
	}
	return b.String()
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
