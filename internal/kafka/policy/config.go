package policy

import (
	"errors"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Config holds the settings of topics when they are created. They never
// change a topic that exists: more partitions would move keys to other
// partitions and break the order of their events, and what else differs may be
// somebody's decision. [Config.Compare] says where they differ.
type Config struct {
	Partitions        int           `env:"TOPIC_PARTITIONS" envDefault:"6" desc:"partitions of raw-events, the retry topics and dead-letters when they are created"`
	DeliverPartitions int           `env:"DELIVER_TOPIC_PARTITIONS" envDefault:"0" desc:"partitions of each destination's topic when it is created; 0: 6 for the first 50 destinations, 2 up to 300, 1 beyond"`
	Replication       int           `env:"TOPIC_REPLICATION" envDefault:"-1" desc:"replicas of each topic when it is created; -1: the broker's default"`
	MinInSync         int           `env:"TOPIC_MIN_INSYNC_REPLICAS" envDefault:"-1" desc:"min.insync.replicas of each topic when it is created: replicas that must have a record before it is acknowledged; -1: the broker's default"`
	RawRetention      time.Duration `env:"RAW_EVENTS_RETENTION" envDefault:"720h" desc:"how long raw-events keeps an event"`
	RawBytes          int           `env:"RAW_EVENTS_RETENTION_BYTES" envDefault:"0" desc:"bytes of raw-events to keep per partition; 0: no limit on Kafka, 128 MiB on the embedded broker, which also keeps what is not routed yet"`
	// A destination that is down leaves its events in its own topic and in those of
	// retries: what these do not keep is lost without a dead letter.
	DeliverRetention     time.Duration `env:"DELIVER_TOPIC_RETENTION" envDefault:"0s" desc:"how long the destinations' topics keep an event, delivered or not; 0s: 7 days on Kafka, 1 day on the embedded broker, which also keeps what is not delivered yet"`
	RetryRetention       time.Duration `env:"RETRY_TOPIC_RETENTION" envDefault:"0s" desc:"how long the retry topics keep an event, delivered or not; 0s: 7 days on Kafka, 1 day on the embedded broker, which also keeps what is not delivered yet"`
	DeadLettersRetention time.Duration `env:"DEAD_LETTERS_RETENTION" envDefault:"720h" desc:"how long dead-letters keeps an event; dead-letters-redriven keeps its marks twice as long"`
	JournalRetention     time.Duration `env:"JOURNAL_RETENTION" envDefault:"720h" desc:"how long the journal says what became of an event"`
	// Remembered is how long a call is known to the router, whose digests of that are kept
	// longer.
	Remembered time.Duration
	// Exports are topics that others read, by name, as the workspace wants them.
	Exports map[string]schemas.Export
	// Embedded is true for the embedded broker, whose compaction is not safe
	// against a crash: topics that hold state are kept whole there, and their
	// readers take the last record of each key.
	Embedded bool
}

const (
	maxPartitions = 10_000
	maxReplicas   = 100

	// minBacklogRetention is longer than the four hours that an event may be retried.
	minBacklogRetention = 6 * time.Hour
	minHistoryRetention = time.Hour
)

// Validate reports every setting that cannot work, each with the variable, the
// value and what was expected.
func (c Config) Validate() error {
	return errors.Join(c.validateShape(), c.validateRetention())
}

func (c Config) validateShape() error {
	var errs []error
	if c.Partitions < 1 || c.Partitions > maxPartitions {
		errs = append(errs, fmt.Errorf("TOPIC_PARTITIONS=%d: expected 1 to %d", c.Partitions, maxPartitions))
	}
	if c.DeliverPartitions < 0 || c.DeliverPartitions > maxPartitions {
		errs = append(errs, fmt.Errorf("DELIVER_TOPIC_PARTITIONS=%d: expected 1 to %d, or 0 to choose by the number of destinations", c.DeliverPartitions, maxPartitions))
	}
	if !replicas(c.Replication) {
		errs = append(errs, fmt.Errorf("TOPIC_REPLICATION=%d: expected 1 to %d, or -1 for the broker's default", c.Replication, maxReplicas))
	}
	switch {
	case !replicas(c.MinInSync):
		errs = append(errs, fmt.Errorf("TOPIC_MIN_INSYNC_REPLICAS=%d: expected 1 to %d, or -1 for the broker's default", c.MinInSync, maxReplicas))
	case c.Replication > 0 && c.MinInSync > c.Replication:
		// The broker would take the topic and no record for it.
		errs = append(errs, fmt.Errorf("TOPIC_MIN_INSYNC_REPLICAS=%d: expected at most TOPIC_REPLICATION=%d", c.MinInSync, c.Replication))
	}
	return errors.Join(errs...)
}

func replicas(n int) bool { return n == -1 || n >= 1 && n <= maxReplicas }

func (c Config) validateRetention() error {
	var errs []error
	if c.RawBytes < 0 {
		errs = append(errs, fmt.Errorf("RAW_EVENTS_RETENTION_BYTES=%d: expected 0 or a number of bytes", c.RawBytes))
	}
	for _, r := range []struct {
		variable string
		value    time.Duration
		least    time.Duration
		choice   bool // whether 0 leaves it to us
	}{
		{"RAW_EVENTS_RETENTION", c.RawRetention, minHistoryRetention, false},
		{"DELIVER_TOPIC_RETENTION", c.DeliverRetention, minBacklogRetention, true},
		{"RETRY_TOPIC_RETENTION", c.RetryRetention, minBacklogRetention, true},
		{"DEAD_LETTERS_RETENTION", c.DeadLettersRetention, minHistoryRetention, true},
		{"JOURNAL_RETENTION", c.JournalRetention, minHistoryRetention, true},
	} {
		if r.value < r.least && (!r.choice || r.value != 0) {
			errs = append(errs, fmt.Errorf("%s=%s: expected at least %s", r.variable, r.value, hours(r.least)))
		}
	}
	return errors.Join(errs...)
}

// hours writes a whole number of hours as people do.
func hours(d time.Duration) string { return fmt.Sprintf("%dh", int(d.Hours())) }
