package schemas

import (
	"fmt"
	"time"
)

// Bounds of header values. A record's headers are read before anything is
// known about it, so none may be large; the integrations map is the exception,
// since routing needs all of it.
const (
	MaxDetailBytes       = 256             // Headers.Detail; longer text is cut when encoded
	MaxAnswerBytes       = 1 << 10         // Headers.Answer; what is longer is cut when encoded, to at most four times as many
	MaxIntegrationsBytes = MaxCallBytes    // Headers.Integrations: what one call could hold
	MaxTopicBytes        = 249             // Position.Topic: Kafka's own limit
	MaxEndpoints         = 5               // endpoints of a destination; rule: spec.md, Limits
	MaxOnly              = 100             // Headers.Only: destinations that a definition, or an import, narrows its calls to
	MaxAttempts          = 1<<31 - 1       // Headers.Attempt: four hours never hold more
	TraceParentBytes     = 55              // Headers.TraceParent: the W3C's version 00
	maxReasonBytes       = 40              // Headers.Reason, of a later release as well
	maxTimeMillis        = 253402300799999 // the last millisecond of the year 9999
	maxPausedMillis      = 100 * 366 * 86400000
	maxVersion           = 999
)

// The wire keys. The set is closed: each hop writes the whole set anew and
// leaves no other header behind.
const (
	keyVersion       = "version"
	keySource        = "source"
	keyType          = "type"
	keyMessageID     = "message-id"
	keyIntegrations  = "integrations"
	keyOrigin        = "origin"
	keyOnly          = "only"
	keyHappened      = "happened"
	keyReceived      = "received"
	keyTraceParent   = "traceparent"
	keyRun           = "run"
	keyDestination   = "destination"
	keyAttempt       = "attempt"
	keyWithheld      = "withheld"
	keyFirstAttempt  = "first-attempt"
	keyDue           = "due"
	keyReserved      = "reserved"
	keyPaused        = "paused"
	keyReason        = "reason"
	keyDetail        = "detail"
	keyAnswer        = HeaderAnswer
	keyEndpoints     = "endpoints"
	keyFromTopic     = "from-topic"
	keyFromPartition = "from-partition"
	keyFromOffset    = "from-offset"
	keyReference     = "reference"
	keyFailedAt      = "failed-at"

	headerCount = 27
)

// HeaderAnswer is the key of [Headers.Answer], which people are shown in a form of its own.
const HeaderAnswer = "answer"

// RecordVersion is the latest version of records that this release understands,
// headers and value. It changes when an older release would misread a record;
// a header that may be ignored is no reason to. The first version is not sent:
// it would cost bytes in every record.
//
//   - 2: Only narrows an imported call, and may narrow it to nobody. An older router
//     would deliver it to everybody.
const RecordVersion = 2

// Headers is all that a stage must know of a record without parsing its JSON.
// A field of zero value is not sent, and a header that is missing leaves its
// field zero: which ones a topic requires is for its reader to say.
//
// On the wire the texts are as they are, times are decimal Unix milliseconds,
// numbers decimal, endpoints 16 hexadecimal digits each; those and ids are separated
// by commas, and what nobody would see of an answer is escaped as in Go: any Kafka tool shows
// them legibly.
type Headers struct {
	Version      int           // of the record; zero: the first. See RecordVersion
	Source       string        // source id; see ValidID
	Type         Type          // type of the call
	MessageID    string        // at most MaxMessageIDChars
	Integrations []byte        // stable JSON object of at most MaxIntegrationsBytes; nil when the call has none
	Origin       Origin        // who made the event
	Only         []string      // ids of the destinations that alone get a call of personas or of an import, of those connected to it; at most MaxOnly; nil for all, empty for none; on raw-events
	Happened     time.Time     // when an imported call happened, by its own account; on raw-events
	Received     time.Time     // when ingest took the call; from deliver.* on, and of an imported call from raw-events on
	TraceParent  string        // W3C trace context of the span that wrote the record, when that is sampled; see ValidTraceParent
	Run          string        // id of the replay that sent the event, whose origin is OriginReplay; on replay.* and from there on; see ValidID
	Destination  string        // destination id, on webhook-retry.* and dead-letters; see ValidID
	Attempt      int           // attempts already made, 0 to MaxAttempts
	Withheld     int           // attempts that were due and not made, since every endpoint was known to be down; 0 to MaxAttempts
	FirstAttempt time.Time     // start of the retry window: when the first attempt was made, or withheld; zero before
	Due          time.Time     // when the next attempt is due; on webhook-retry.*
	Reserved     bool          // Due is a slot that was reserved at the destination; on webhook-retry.*
	Paused       time.Duration // how long the event was put back because its destination was paused: that does not count in its window; on webhook-retry.* and dead-letters
	Reason       Reason        // of the last failure
	Detail       string        // of the last failure, for people: no secret, no text from the receiver; cut to MaxDetailBytes
	Answer       []byte        // how the body begins that an endpoint answered to the last attempt, without the endpoint's secrets; cut to MaxAnswerBytes; on dead-letters
	Endpoints    []uint64      // fingerprints of the endpoints to repeat, at most MaxEndpoints; nil for all
	From         Position      // where the record first stood; on dead-letters
	Reference    bool          // the value was too large and is left out: read it at From; on dead-letters
	FailedAt     time.Time     // when the record was given up; on dead-letters
}

// Position is the place of a record in the log. Its zero value is no place.
type Position struct {
	Topic     string // at most MaxTopicBytes; empty for no place
	Partition int32
	Offset    int64
}

// String returns the position as errors and logs name records: "raw-events[3]@17".
func (p Position) String() string {
	return fmt.Sprintf("%s[%d]@%d", p.Topic, p.Partition, p.Offset)
}
