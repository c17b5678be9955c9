package kafka

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

const (
	backlogRetention    = 7 * 24 * time.Hour
	deadLetterRetention = 30 * 24 * time.Hour
	// A note that a dead letter was sent again has to outlive the dead letter, which
	// its broker deletes with the segment it stands in: up to a segment's age late.
	redrivenFactor = 2

	// The embedded broker reads its whole log into memory when it starts: about
	// one gigabyte resident per gigabyte of log after a kill. So there the history
	// of events is bounded in bytes, and what was delivered is kept for a day. What
	// the router or the sink has not read is kept beyond that, see package broker:
	// with a dozen destinations an import outruns the router by more than the bound.
	embeddedRawBytes         = 128 << 20
	embeddedBacklogRetention = 24 * time.Hour

	brokersClock = "LogAppendTime"
	smallIndex   = 1 << 20
)

// The settings of a topic that matter here, by the names that brokers give them.
const (
	cleanupPolicy  = "cleanup.policy"
	retentionMs    = "retention.ms"
	retentionBytes = "retention.bytes"
	minInSync      = "min.insync.replicas"
	timestampType  = "message.timestamp.type"
	timestampAhead = "message.timestamp.after.max.ms"
	indexBytes     = "segment.index.bytes"
	messageBytes   = "max.message.bytes"
)

// policy is what a topic is created with.
type policy struct {
	partitions int
	configs    map[string]string
	// optional settings are left out where brokers do not know them.
	optional map[string]string
}

// policyOf knows the policy of each topic from its name (the table "Topics" of
// DESIGN.md), so that it makes no difference which stage meets a topic first.
func (c TopicConfig) policyOf(name string) (policy, error) {
	p, ok := c.known(name)
	if !ok {
		return p, fmt.Errorf("create topic %q: expected one of Anabranch's topics", name)
	}
	p.optional = c.optional(name)
	if c.MinInSync > 0 {
		p.configs[minInSync] = strconv.Itoa(c.MinInSync)
	}
	return p, nil
}

func (c TopicConfig) known(name string) (policy, bool) {
	_, deliver := schemas.DestinationOf(name)
	_, retry := schemas.RetryDelayOf(name)
	switch {
	case name == schemas.TopicRawEvents:
		return policy{partitions: c.Partitions, configs: c.history()}, true
	case name == schemas.TopicDeadLetters:
		return policy{partitions: c.Partitions, configs: expire(c.deadLetters())}, true
	case name == schemas.TopicRedriven:
		// One partition: each transaction of a redrive writes to it.
		return policy{partitions: 1, configs: expire(redrivenFactor * c.deadLetters())}, true
	case name == schemas.TopicWorkspace:
		return policy{partitions: 1, configs: c.keepLast()}, true
	case deliver: // 0 partitions are for createAll to fill in
		return policy{partitions: c.DeliverPartitions, configs: expire(c.backlog(c.DeliverRetention))}, true
	case retry:
		return policy{partitions: c.Partitions, configs: expire(c.backlog(c.RetryRetention))}, true
	default:
		return policy{}, false
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
func (c TopicConfig) optional(name string) map[string]string {
	if c.Embedded {
		return nil
	}
	optional := map[string]string{timestampType: brokersClock}
	if _, retry := schemas.RetryDelayOf(name); retry || isDeliver(name) {
		optional[indexBytes] = strconv.Itoa(smallIndex)
	}
	return optional
}

// expire keeps records for a time, however many they are: a bound in bytes that is
// the brokers' default would delete events that nobody has been sent yet.
func expire(after time.Duration) map[string]string {
	return map[string]string{
		cleanupPolicy:  "delete",
		retentionMs:    strconv.FormatInt(after.Milliseconds(), 10),
		retentionBytes: "-1",
	}
}

func (c TopicConfig) history() map[string]string {
	configs := expire(c.RawRetention)
	switch {
	case c.RawBytes > 0:
		configs[retentionBytes] = strconv.Itoa(c.RawBytes)
	case c.Embedded:
		configs[retentionBytes] = strconv.Itoa(embeddedRawBytes)
	}
	return configs
}

func (c TopicConfig) deadLetters() time.Duration {
	return cmp.Or(c.DeadLettersRetention, deadLetterRetention)
}

func (c TopicConfig) backlog(set time.Duration) time.Duration {
	if c.Embedded {
		return cmp.Or(set, embeddedBacklogRetention)
	}
	return cmp.Or(set, backlogRetention)
}

func (c TopicConfig) keepLast() map[string]string {
	if c.Embedded {
		return map[string]string{cleanupPolicy: "delete", retentionMs: "-1", retentionBytes: "-1"}
	}
	return map[string]string{cleanupPolicy: "compact"}
}
