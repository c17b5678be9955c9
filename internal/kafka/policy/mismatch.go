package policy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/anabranch/anabranch/schemas"
)

// State is what a topic is like. Configs holds its settings by the brokers'
// names for them; without one that is missing, that one is not compared.
type State struct {
	Partitions, Replicas int
	Configs              map[string]string
}

// Mismatch is something about an existing topic that the settings would make
// another way, or that can't work. Nothing of it is ever altered by us.
type Mismatch struct {
	Topic   string
	Setting string // partitions, replication.factor, or the brokers' name of a setting
	Want    string
	Have    string
	Meaning string // what follows from it
	Advice  string // what to do about it
	// Grave is true where events may be lost or come out of order.
	Grave bool
}

// String is the mismatch in one line.
func (m Mismatch) String() string {
	return fmt.Sprintf("topic %s: %s is %s, expected %s: %s; %s", m.Topic, m.Setting, m.Have, m.Want, m.Meaning, m.Advice)
}

// Compare tells where a topic differs from what these settings would create under
// its name; nothing for a topic that is not ours.
func (c Config) Compare(topic string, have State) []Mismatch {
	want, ok := c.known(topic)
	if !ok {
		return nil
	}
	all := slices.Concat(
		c.comparePartitions(topic, want.Partitions, have.Partitions),
		c.compareReplicas(topic, have),
		compareCleanup(topic, want.Configs, have.Configs),
		c.compareRetention(topic, want.Configs, have.Configs),
		compareSize(topic, have.Configs),
	)
	for i := range all {
		all[i].Topic = topic
	}
	return all
}

const (
	partitionsAdded = "if partitions were added to it, the keys of many users have moved, and until all that was written before is delivered their events may come out of order"
	partitionsFewer = "the number of an existing topic stays as it is, and limits how many processes can share it"
)

// comparePartitions has want 0 for a destination's topic whose number was chosen
// when it was created.
func (c Config) comparePartitions(topic string, want, have int) []Mismatch {
	variable := "TOPIC_PARTITIONS"
	if _, of := schemas.RoutedTo(topic); of || PerDestination(topic) {
		variable = "DELIVER_TOPIC_PARTITIONS"
	}
	m := Mismatch{Setting: "partitions", Want: strconv.Itoa(want), Have: strconv.Itoa(have)}
	_, named := c.Exports[topic]
	switch {
	case have == want, want == 0 && slices.Contains(deliverChoices(), have):
		return nil
	case named || schemas.PrefixOf(topic) == schemas.ExportPrefix:
		m.Meaning = "its readers find more or fewer partitions than the workspace says, and if some were added, the keys of many users have moved"
		m.Advice = fmt.Sprintf("write topic: {partitions: %d} in the workspace if it is meant to be so; else delete the topic once its readers are done with it: it is created again", have)
	case want == 0:
		m.Want = "6, 2 or 1"
		m.Meaning, m.Grave = partitionsAdded, have > slices.Max(deliverChoices())
		m.Advice = fmt.Sprintf("set %s=%d if it was created that way", variable, have)
	case topic == schemas.TopicWorkspace, topic == schemas.TopicRegulations, topic == schemas.TopicImports, topic == schemas.TopicReplays:
		m.Meaning = "only partition 0 is used"
		m.Advice = "leave it as it is"
	case topic == schemas.TopicRedriven:
		m.Meaning = "a redrive writes to more partitions than it needs"
		m.Advice = "leave it as it is"
	case topic == schemas.TopicSeen:
		m.Meaning = "digests are missing, or partitions are not used; raw-events is read instead"
		m.Advice = "stop the routers and delete it: it is created again"
	case topic == schemas.TopicJournal:
		m.Meaning = "its records are spread over more or fewer partitions than those of raw-events"
		m.Advice = "leave it as it is"
	case have > want:
		m.Meaning, m.Grave = partitionsAdded, topic != schemas.TopicDeadLetters
		m.Advice = fmt.Sprintf("never add partitions to a topic that is in use; set %s=%d once you are aware of it, or if it was created that way", variable, have)
	default:
		m.Meaning = partitionsFewer
		m.Advice = fmt.Sprintf("set %s=%d; for more, stop the stages, let the topic drain, and delete it: it is created again", variable, have)
	}
	return []Mismatch{m}
}

func (c Config) compareReplicas(topic string, have State) []Mismatch {
	var all []Mismatch
	if c.Replication > 0 && have.Replicas != c.Replication {
		m := Mismatch{Setting: "replication.factor", Want: strconv.Itoa(c.Replication), Have: strconv.Itoa(have.Replicas)}
		m.Meaning = "it takes more room than intended"
		if have.Replicas < c.Replication {
			m.Meaning, m.Grave = "it survives the loss of fewer brokers than intended", true
		}
		m.Advice = fmt.Sprintf("change it with kafka-reassign-partitions.sh, or set TOPIC_REPLICATION=%d", have.Replicas)
		all = append(all, m)
	}
	text, ok := have.Configs[minInSync]
	least, err := strconv.Atoi(text)
	if !ok || err != nil {
		return all
	}
	m := Mismatch{Setting: minInSync, Have: text}
	switch {
	case least > have.Replicas && have.Replicas > 0:
		m.Want = fmt.Sprintf("at most %d, the number of replicas", have.Replicas)
		m.Meaning, m.Grave = "brokers refuse every record for it", true
		m.Advice = alter(topic, minInSync, strconv.Itoa(have.Replicas))
	case c.MinInSync > 0 && least != c.MinInSync:
		m.Want = strconv.Itoa(c.MinInSync)
		m.Meaning = "fewer brokers may be offline than intended before records for it are refused"
		if least < c.MinInSync {
			m.Meaning, m.Grave = "a record is acknowledged with fewer copies than intended", true
		}
		m.Advice = alter(topic, minInSync, m.Want) + ", or set TOPIC_MIN_INSYNC_REPLICAS=" + text
	default:
		return all
	}
	return append(all, m)
}

func compareCleanup(topic string, want, have map[string]string) []Mismatch {
	text, ok := have[cleanupPolicy]
	if !ok || text == want[cleanupPolicy] {
		return nil
	}
	m := Mismatch{Setting: cleanupPolicy, Want: want[cleanupPolicy], Have: text, Grave: true}
	m.Meaning = "only the last of a user's events may be kept"
	if m.Want == "compact" {
		m.Meaning = "sources, destinations, suppressed users and what was imported or replayed are forgotten when their records are old"
	}
	m.Advice = alter(topic, cleanupPolicy, m.Want)
	return []Mismatch{m}
}

func (c Config) compareRetention(topic string, want, have map[string]string) []Mismatch {
	var all []Mismatch
	for _, setting := range []string{RetentionMs, RetentionBytes} {
		wanted, matters := want[setting]
		text, ok := have[setting]
		if !matters || !ok || text == wanted {
			continue
		}
		m := Mismatch{Setting: setting, Want: wanted, Have: text, Meaning: "events are kept longer than intended"}
		if limit(text) < limit(wanted) {
			m.Grave = topic != schemas.TopicRedriven
			m.Meaning = "events are deleted earlier than intended, whether they have been delivered or not"
		}
		switch topic {
		case schemas.TopicJournal:
			m.Grave = false
			m.Meaning = "what became of an event can be told for a longer time than intended, or for a shorter one"
		case schemas.TopicSeen:
			m.Grave = false
			m.Meaning = "a router that starts without its files reads raw-events instead of digests of it, or more digests than it needs"
		}
		m.Advice = alter(topic, setting, wanted)
		if _, export := c.Exports[topic]; export {
			m.Meaning = "its readers have a longer time for an event than the workspace says, or a shorter one"
			if setting == RetentionMs {
				m.Advice += ", or write what you want as topic: {retention: …} in the workspace"
			}
			all = append(all, m)
			continue
		}
		if variable := RetentionVariable(topic, setting); variable != "" {
			m.Advice += ", or set " + variable + " to what you want"
		}
		all = append(all, m)
	}
	return all
}

// BatchBytes is the largest batch of records that our clients send, in bytes: the
// library's default, which no setting of ours changes. The largest event that ingest
// takes comes near it.
const BatchBytes = 1_000_012

func compareSize(topic string, have map[string]string) []Mismatch {
	text, known := have[messageBytes]
	most, err := strconv.Atoi(text)
	if !known || err != nil || most >= BatchBytes {
		return nil
	}
	return []Mismatch{{
		Setting: messageBytes, Want: fmt.Sprintf("at least %d", BatchBytes), Have: text, Grave: true,
		Meaning: "events that ingest accepts are refused for their size and go to dead-letters, and batches of smaller ones are sent again in parts",
		Advice:  alter(topic, messageBytes, strconv.Itoa(BatchBytes)) + ", and raise message.max.bytes of the brokers for topics to come",
	}}
}

// limit is a bound of Kafka's as a number to compare: -1 is none.
func limit(text string) uint64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return uint64(n)
}

// RetentionVariable is the variable behind a bound; empty where there is none.
func RetentionVariable(topic, setting string) string {
	switch {
	case topic == schemas.TopicRawEvents && setting == RetentionBytes:
		return "RAW_EVENTS_RETENTION_BYTES"
	case setting == RetentionBytes:
		return ""
	case topic == schemas.TopicRawEvents:
		return "RAW_EVENTS_RETENTION"
	case topic == schemas.TopicDeadLetters, topic == schemas.TopicRedriven:
		return "DEAD_LETTERS_RETENTION"
	case topic == schemas.TopicSeen:
		return "ROUTER_DEDUP_WINDOW"
	case topic == schemas.TopicJournal:
		return "JOURNAL_RETENTION"
	case schemas.PrefixOf(topic) == schemas.RetryPrefix:
		return "RETRY_TOPIC_RETENTION"
	case PerDestination(topic), schemas.PrefixOf(topic) == schemas.ArchivePrefix:
		return "DELIVER_TOPIC_RETENTION"
	}
	return ""
}

// PerDestination reports whether a topic is one of those that each destination has.
func PerDestination(topic string) bool {
	return IsDeliver(topic) || schemas.PrefixOf(topic) == schemas.ReplayPrefix
}

// alter is the command that changes a setting of a topic.
func alter(topic, setting, value string) string {
	return fmt.Sprintf("kafka-configs.sh --alter --entity-type topics --entity-name %s --add-config %s=%s", topic, setting, value)
}

// Ours reports whether a topic is one that these settings would create.
func (c Config) Ours(topic string) bool {
	_, ours := c.known(topic)
	return ours
}

// CompareAll compares topics by their names, in the order of these.
func (c Config) CompareAll(states map[string]State) []Mismatch {
	found := make([]Mismatch, 0, len(states))
	for _, name := range slices.Sorted(maps.Keys(states)) {
		found = append(found, c.Compare(name, states[name])...)
	}
	return append(found, c.compareClocks(states)...)
}
