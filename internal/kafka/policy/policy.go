package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

const (
	backlogRetention    = 7 * 24 * time.Hour
	deadLetterRetention = 30 * 24 * time.Hour
	journalRetention    = 30 * 24 * time.Hour
	// A note that a dead letter was sent again has to outlive the dead letter, which
	// its broker deletes with the segment it stands in: up to a segment's age late.
	redrivenFactor = 2

	// The embedded broker reads its whole log into memory when it starts: about
	// one gigabyte resident per gigabyte of log after a kill. So there the history
	// of events is bounded in bytes, and what was delivered is kept for a day. What
	// the router or the sink has not read is kept beyond that, see package policy:
	// with a dozen destinations an import outruns the router by more than the bound.
	embeddedRawBytes         = 128 << 20
	embeddedJournalBytes     = 16 << 20
	embeddedBacklogRetention = 24 * time.Hour
	// Nobody commits what is read of an export, so nothing says what is not needed any more.
	embeddedExportBytes = 32 << 20

	// A digest is written after the calls that it is of, and read for the last of them. What
	// is remembered expires by eighths of the horizon.
	seenBuckets = 8
	seenSlack   = 2 * time.Hour

	brokersClock = "LogAppendTime"
	smallIndex   = 1 << 20
)

// Settings of a topic, by the names that brokers give them.
const (
	RetentionMs    = "retention.ms"
	RetentionBytes = "retention.bytes"
	TimestampType  = "message.timestamp.type"
	IndexBytes     = "segment.index.bytes"

	cleanupPolicy  = "cleanup.policy"
	minInSync      = "min.insync.replicas"
	timestampAhead = "message.timestamp.after.max.ms"
	messageBytes   = "max.message.bytes"
)

// Compared are the settings of a topic that [Config.Compare] looks at: all that there
// are of a thousand topics would be megabytes.
func Compared() []string {
	return []string{cleanupPolicy, RetentionMs, RetentionBytes, minInSync, TimestampType, timestampAhead, messageBytes}
}

// Policy is what a topic is created with.
type Policy struct {
	Partitions int // 0: to be chosen by [DeliverPartitions]
	Configs    map[string]string
	// Optional settings are left out where brokers do not know them.
	Optional map[string]string
}

// Of knows the policy of each topic of ours from its name (the table "Topics" of
// DESIGN.md), so that it makes no difference which stage meets a topic first.
func (c Config) Of(name string) (Policy, error) {
	p, ok := c.known(name)
	if !ok {
		return p, fmt.Errorf("create topic %q: expected one of Anabranch's topics", name)
	}
	p.Optional = c.optional(name)
	if c.MinInSync > 0 {
		p.Configs[minInSync] = strconv.Itoa(c.MinInSync)
	}
	return p, nil
}

func (c Config) known(name string) (Policy, bool) {
	prefix := schemas.PrefixOf(name)
	if wanted, is := c.Exports[name]; is || prefix == schemas.ExportPrefix {
		return c.export(wanted), true
	}
	switch {
	case name == schemas.TopicRawEvents:
		return Policy{Partitions: c.Partitions, Configs: c.history()}, true
	case name == schemas.TopicDeadLetters:
		return Policy{Partitions: c.Partitions, Configs: expire(c.deadLetters())}, true
	case name == schemas.TopicRedriven:
		// One partition: each transaction of a redrive writes to it.
		return Policy{Partitions: 1, Configs: expire(redrivenFactor * c.deadLetters())}, true
	case name == schemas.TopicSeen:
		return Policy{Partitions: c.Partitions, Configs: expire(c.Remembered + c.Remembered/seenBuckets + seenSlack)}, true
	case name == schemas.TopicJournal:
		return Policy{Partitions: c.Partitions, Configs: c.journal()}, true
	case name == schemas.TopicWorkspace, name == schemas.TopicRegulations, name == schemas.TopicImports, name == schemas.TopicReplays:
		return Policy{Partitions: 1, Configs: c.keepLast()}, true
	case name == schemas.TopicPersonasInternal:
		return Policy{Partitions: c.Partitions, Configs: expire(c.internal())}, true
	case name == schemas.TopicPersonasChangelog:
		return Policy{Partitions: c.Partitions, Configs: c.keepLast()}, true
	case prefix == schemas.DeliverPrefix, prefix == schemas.ReplayPrefix:
		return Policy{Partitions: c.DeliverPartitions, Configs: expire(c.backlog(c.DeliverRetention))}, true
	case prefix == schemas.ArchivePrefix:
		return Policy{Partitions: c.apart(), Configs: expire(c.backlog(c.DeliverRetention))}, true
	case prefix == schemas.RetryPrefix:
		return Policy{Partitions: c.Partitions, Configs: expire(c.backlog(c.RetryRetention))}, true
	default:
		return Policy{}, false
	}
}

// optional are the settings that a topic does without where brokers refuse them.
//
// By the brokers' clock no other machine's clock decides how long a record is kept, or
// whether it is taken at all: Apache Kafka 4 refuses one whose own time is more than
// an hour ahead. The embedded broker is on the machine of its clients, and does not
// offer it.
//
// Apache Kafka maps two index files of 10 MiB for each partition and touches them at
// the first append, which is seconds of a broker's time for the first events to a
// hundred new destinations. With 1 MiB a segment ends after about 350 MB of log.
func (c Config) optional(name string) map[string]string {
	if c.Embedded {
		return nil
	}
	optional := map[string]string{TimestampType: brokersClock}
	if _, export := c.Exports[name]; export || schemas.PrefixOf(name) != "" {
		optional[IndexBytes] = strconv.Itoa(smallIndex)
	}
	return optional
}

// expire keeps records for a time, however many they are: a bound in bytes that is
// the brokers' default would delete events that nobody has been sent yet.
func expire(after time.Duration) map[string]string {
	return map[string]string{
		cleanupPolicy:  "delete",
		RetentionMs:    strconv.FormatInt(after.Milliseconds(), 10),
		RetentionBytes: "-1",
	}
}

func (c Config) history() map[string]string {
	configs := expire(c.RawRetention)
	switch {
	case c.RawBytes > 0:
		configs[RetentionBytes] = strconv.Itoa(c.RawBytes)
	case c.Embedded:
		configs[RetentionBytes] = strconv.Itoa(embeddedRawBytes)
	}
	return configs
}

// journal is bounded in bytes where the history of events is: it is of about as many of
// them.
func (c Config) journal() map[string]string {
	configs := expire(cmp.Or(c.JournalRetention, journalRetention))
	if c.Embedded {
		configs[RetentionBytes] = strconv.Itoa(embeddedJournalBytes)
	}
	return configs
}

// export is the policy of a topic that others read. What they have read nobody here knows,
// so on the embedded broker it is bounded in bytes too.
func (c Config) export(wanted schemas.Export) Policy {
	configs := expire(cmp.Or(wanted.Retention, c.backlog(c.DeliverRetention)))
	if c.Embedded {
		configs[RetentionBytes] = strconv.Itoa(embeddedExportBytes)
	}
	return Policy{Partitions: cmp.Or(wanted.Partitions, c.apart()), Configs: configs}
}

// apart is how many partitions the topic of a destination gets that the webhook sink does
// not read: however many such topics there are, it costs no member of the sink anything.
func (c Config) apart() int { return cmp.Or(c.DeliverPartitions, deliverChoices()[0]) }

func (c Config) deadLetters() time.Duration {
	return cmp.Or(c.DeadLettersRetention, deadLetterRetention)
}

func (c Config) backlog(set time.Duration) time.Duration {
	if c.Embedded {
		return cmp.Or(set, embeddedBacklogRetention)
	}
	return cmp.Or(set, backlogRetention)
}

// internal is how long personas-internal keeps what owners of users tell each other:
// users that are merged travel through it, so a stage that was stopped for days has to
// find them. On the embedded broker nothing goes that was not read; what was is a tick a
// second of each partition, which nobody asks for again.
func (c Config) internal() time.Duration {
	if c.Embedded {
		return time.Hour
	}
	return backlogRetention
}

func (c Config) keepLast() map[string]string {
	if c.Embedded {
		return map[string]string{cleanupPolicy: "delete", RetentionMs: "-1", RetentionBytes: "-1"}
	}
	return map[string]string{cleanupPolicy: "compact"}
}

// DeliverPartitions is how many partitions a destination's topic gets among n of
// them. What a member spends on an event follows the number of its partitions,
// all of which each fetch looks through; and one partition feeds as many
// concurrent deliveries as six do, so the larger number is for members to share.
func DeliverPartitions(n int) int {
	const few, many = 50, 300
	choices := deliverChoices()
	switch {
	case n <= few:
		return choices[0]
	case n <= many:
		return choices[1]
	default:
		return choices[2]
	}
}

// deliverChoices are the numbers that DeliverPartitions chooses from.
func deliverChoices() []int { return []int{6, 2, 1} }

// Beside names the topic that another has as many partitions as, whatever the settings
// say; false for one that goes by the settings. What concerns a user is on one partition
// of raw-events and of those of personas, and a destination's replays are fetched by
// whoever has its live events.
func Beside(topic string) (other string, ok bool) {
	if destination, ok := schemas.ReplayedTo(topic); ok {
		return schemas.DeliverTopic(destination), true
	}
	return schemas.TopicRawEvents, topic == schemas.TopicPersonasInternal || topic == schemas.TopicPersonasChangelog
}

// IsDeliver reports whether a topic is that of a destination with webhooks.
func IsDeliver(topic string) bool {
	return schemas.PrefixOf(topic) == schemas.DeliverPrefix
}

// All are the settings, optional ones included.
func (p Policy) All() map[string]string {
	all := maps.Clone(p.Configs)
	maps.Copy(all, p.Optional)
	return all
}

// String lists the partitions and the settings.
func (p Policy) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d partitions", p.Partitions)
	all := p.All()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		b.WriteString(", " + key + "=" + all[key])
	}
	return b.String()
}

// Bounds are how long, and how many bytes of each partition, a topic with these
// settings keeps; 0 is no bound, or one that is not known.
func Bounds(configs map[string]string) (kept time.Duration, bytes int64) {
	if kept = milliseconds(configs[RetentionMs]); kept == forever {
		kept = 0
	}
	if n, err := strconv.ParseInt(configs[RetentionBytes], 10, 64); err == nil && n > 0 {
		bytes = n
	}
	return kept, bytes
}
