package schemas

import (
	"strconv"
	"strings"
	"time"
)

// The topics of fixed name.
const (
	TopicRawEvents   = "raw-events"            // every accepted event; key: userId, else anonymousId, of those that BlockedIDs leaves; else messageId
	TopicDeadLetters = "dead-letters"          // what could not be delivered, with its reason
	TopicRedriven    = "dead-letters-redriven" // which dead letters were sent again, and when; key: <partition>-<offset>
	TopicSeen        = "router-seen"           // which calls were routed, by fingerprint: digests of raw-events, by its partitions
	TopicJournal     = "journal"               // what became of each event, see package schemas/journal; key: <stage>/<topic>/<partition>
	TopicWorkspace   = "workspace"             // sources and destinations; key: <kind>/<id>
	TopicImports     = "imports"               // how far each import of files is; key: its digest
	TopicReplays     = "replays"               // replays of raw-events: range, choice, how far each is; key: id of the run
	TopicRegulations = "regulations"           // deletion requests and suppressed users; key: <kind>/<id>

	// Of the stage personas, with as many partitions as raw-events. What concerns one user
	// is on the partition of that user's events.
	TopicPersonasInternal  = "personas-internal"  // ticks of the clock, and what owners of users tell each other
	TopicPersonasChangelog = "personas-changelog" // the state of each user, and how far each partition is; key: user id
)

// Families of topics, of which there are many, and what their names begin with.
const (
	FamilyDeliver = "deliver"
	FamilyExport  = FamilyDeliver + ".export"
	FamilyArchive = FamilyDeliver + ".archive"
	FamilyRetry   = "webhook-retry"
	FamilyReplay  = "replay"

	// The router's, which writes to all that begin with the first. Ids have no dots, so
	// a name tells which of the three it is of.
	DeliverPrefix = FamilyDeliver + "."
	ExportPrefix  = FamilyExport + "."
	ArchivePrefix = FamilyArchive + "."
	RetryPrefix   = FamilyRetry + "."
	ReplayPrefix  = FamilyReplay + "."
)

// OwnPrefix begins the names of all consumer groups and transactional ids.
const OwnPrefix = "anabranch-"

// SinkGroup is the consumer group that delivers events: whoever writes to the topics of
// destinations can see by it how much waits.
const SinkGroup = OwnPrefix + "webhook-sink"

// DeliverTopic names the topic of the events that wait for the webhooks of one
// destination: "deliver.crm" for "crm". The id must satisfy [ValidID].
func DeliverTopic(destinationID string) string { return DeliverPrefix + destinationID }

// ExportTopic names the topic that is itself what a destination receives, and that others
// read: "deliver.export.warehouse" for "warehouse".
func ExportTopic(destinationID string) string { return ExportPrefix + destinationID }

// ArchiveTopic names the topic of the events that wait to be archived:
// "deliver.archive.cold" for "cold".
func ArchiveTopic(destinationID string) string { return ArchivePrefix + destinationID }

// DestinationOf is the inverse of [DeliverTopic]; false when topic is not the
// topic of a destination with webhooks.
func DestinationOf(topic string) (id string, ok bool) { return idBehind(DeliverPrefix, topic) }

// RoutedTo returns the destination that the router writes to a topic for, by its name:
// the inverse of [DeliverTopic], [ExportTopic] and [ArchiveTopic]. An export may have a
// name that says nothing of it, which the workspace knows.
func RoutedTo(topic string) (id string, ok bool) {
	for _, prefix := range []string{DeliverPrefix, ExportPrefix, ArchivePrefix} {
		if id, ok = idBehind(prefix, topic); ok {
			return id, true
		}
	}
	return "", false
}

// Export is what a workspace wants of the topic of a destination that others read. Zero
// values leave it to the settings.
type Export struct {
	Partitions int
	Retention  time.Duration
}

func idBehind(prefix, topic string) (id string, ok bool) {
	id, ok = strings.CutPrefix(topic, prefix)
	if !ok || !ValidID(id) {
		return "", false
	}
	return id, true
}

// ReplayTopic names the topic of what replays send to one destination once more:
// "replay.crm" for "crm". What is in it waits behind the live events of
// [DeliverTopic]. The id must satisfy [ValidID].
func ReplayTopic(destinationID string) string { return ReplayPrefix + destinationID }

// ReplayedTo is the inverse of [ReplayTopic]; false when topic is not the topic of
// replays to a destination.
func ReplayedTo(topic string) (id string, ok bool) {
	return idBehind(ReplayPrefix, topic)
}

// ValidTopic tells whether Kafka takes a name for a topic.
func ValidTopic(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return name != "" && name != "." && name != ".." && len(name) <= MaxTopicBytes
}

// Reserved tells whether a topic is Anabranch's, could be one of a later release, or is
// one of the brokers' own: no other may have its name.
func Reserved(topic string) bool {
	for _, prefix := range []string{DeliverPrefix, RetryPrefix, ReplayPrefix, OwnPrefix, "personas-", "__"} {
		if strings.HasPrefix(topic, prefix) {
			return true
		}
	}
	switch topic {
	case TopicRawEvents, TopicDeadLetters, TopicRedriven, TopicSeen, TopicJournal, TopicWorkspace, TopicImports, TopicReplays, TopicRegulations:
		return true
	}
	return false
}

// RetryTopic names the topic that holds records for delay: "webhook-retry.1m30s".
// The delay is written with whole units from hours down to nanoseconds and
// without empty ones: topic names allow neither the "µ" nor bear the "2m0s" of
// [time.Duration.String]. The delay must not be negative.
func RetryTopic(delay time.Duration) string {
	return string(appendCompact([]byte(RetryPrefix), delay))
}

// RetryDelayOf is the inverse of [RetryTopic]; false when topic is not exactly
// the name RetryTopic gives to some delay, so that a delay has one topic only.
func RetryDelayOf(topic string) (time.Duration, bool) {
	text, ok := strings.CutPrefix(topic, RetryPrefix)
	if !ok {
		return 0, false
	}
	delay, err := time.ParseDuration(text)
	if err != nil || delay < 0 || RetryTopic(delay) != topic {
		return 0, false
	}
	return delay, true
}

// PrefixOf returns the one of the prefixes that a topic's name begins with; empty for
// topics of fixed name, and for what is no name that we give.
func PrefixOf(topic string) string {
	for _, prefix := range []string{DeliverPrefix, ExportPrefix, ArchivePrefix} {
		if _, routed := idBehind(prefix, topic); routed {
			return prefix
		}
	}
	if _, retry := RetryDelayOf(topic); retry {
		return RetryPrefix
	}
	if _, replay := ReplayedTo(topic); replay {
		return ReplayPrefix
	}
	return ""
}

// FamilyOf is what to call a topic where all of one family count as one; that of a
// topic of fixed name is its name.
func FamilyOf(topic string) string {
	if prefix := PrefixOf(topic); prefix != "" {
		return strings.TrimSuffix(prefix, ".")
	}
	return topic
}

func appendCompact(dst []byte, d time.Duration) []byte {
	if d == 0 {
		return append(dst, "0s"...)
	}
	for _, unit := range [...]struct {
		length time.Duration
		symbol string
	}{
		{time.Hour, "h"},
		{time.Minute, "m"},
		{time.Second, "s"},
		{time.Millisecond, "ms"},
		{time.Microsecond, "us"},
		{time.Nanosecond, "ns"},
	} {
		if n := d / unit.length; n > 0 {
			dst = append(strconv.AppendInt(dst, int64(n), 10), unit.symbol...)
			d %= unit.length
		}
	}
	return dst
}
