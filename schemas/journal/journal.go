package journal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Version is the latest version of records that this release writes and understands.
//
//   - 2: attempts have a run. Who does not know it would count a replay's for live ones. A
//     record without any is of the first version.
const Version = 2

// withoutRuns is the version of records of which no attempt is a replay's.
const withoutRuns = 1

// MaxTextBytes is the longest text of a record: an id, a reason, the name of a topic, or
// the key of an integrations map, which is cut.
const MaxTextBytes = schemas.MaxTopicBytes

// Head is what a record is about.
type Head struct {
	Stage     string // that wrote it: router, webhook-sink
	Topic     string // that it read,
	Partition int32
	// From and Next are the offsets that it speaks of, Next excluded. A router's record has
	// an entry for each event there; a sink's for those that had finished when it was written.
	From, Next int64
	KeyID      uint32    // names the key that the fingerprints are made with
	Base       time.Time // when it was made, to the millisecond
	// Lost is how many entries a sink had to drop before this record, since it could not
	// write the journal for long: of that many events of the partition nothing is said.
	Lost int
}

// Key returns the key of the head's record: "router/raw-events/3".
func (h *Head) Key() []byte {
	key := make([]byte, 0, len(h.Stage)+len(h.Topic)+12)
	key = append(append(key, h.Stage...), '/')
	key = append(append(key, h.Topic...), '/')
	return strconv.AppendInt(key, int64(h.Partition), 10)
}

// parseKey reads what [Head.Key] writes.
func (h *Head) parseKey(key []byte) error {
	stage, rest, _ := strings.Cut(string(key), "/")
	topic, number, found := strings.Cut(rest, "/")
	n, err := strconv.ParseInt(number, 10, 32)
	if !found || err != nil || n < 0 || strconv.FormatInt(n, 10) != number || !schemas.ValidID(stage) || topic == "" || len(topic) > schemas.MaxTopicBytes {
		return fmt.Errorf("key %.300q: expected <stage>/<topic>/<partition>", key)
	}
	h.Stage, h.Topic, h.Partition = stage, topic, int32(n)
	return nil
}

// CallResult is what a router made of a call.
type CallResult uint8

// The results, a closed set. Their numbers are on the wire.
const (
	Routed      CallResult = iota + 1 // somebody listens; see Call.Decisions
	Unconnected                       // nobody listens to its source
	Duplicate                         // a copy of a call that was routed before
	CallDead                          // in dead-letters before any destination was known
)

// String is the word for people.
func (r CallResult) String() string { return word(callResults[:], uint8(r)) }

var callResults = [...]string{"", "routed", "unconnected", "duplicate", "dead"}

// DecisionResult is what a router made of a call for one destination.
type DecisionResult uint8

// The results, a closed set. Their numbers are on the wire.
const (
	Sent         DecisionResult = iota + 1 // on the destination's topic
	Filtered                               // not for this destination
	DecisionDead                           // in dead-letters
)

// String is the word for people.
func (r DecisionResult) String() string { return word(decisionResults[:], uint8(r)) }

var decisionResults = [...]string{"", "sent", "filtered", "dead"}

// Decision is what a router decided for one destination that listens to a call's source.
type Decision struct {
	Destination string
	Result      DecisionResult
	// Why is, of what is filtered, the key of the integrations map that decided (All, all,
	// or the name of the destination), [WhyOnly] or [WhyHistorical]; of what is dead the reason;
	// of what is sent the topic, where to be on it is to be delivered, else nothing.
	Why string
}

// WhyOnly is why a destination does not get a call of personas, or an imported one: the
// definition of the audience or the trait, or the import, names others alone.
const WhyOnly = "only"

// WhyHistorical is why a destination does not get an imported call: it refuses those of
// the past.
const WhyHistorical = "historical"

// Call is what became of one call of raw-events at a router.
type Call struct {
	Offset      int64
	Fingerprint uint64
	Source      string
	Result      CallResult
	Reason      schemas.Reason // of one that is dead
	// Decisions has one for each destination that listens, in the router's order. Calls
	// share it: it must not be changed.
	Decisions []Decision
}

// Outcome is how a record ended at a sink.
type Outcome uint8

// The outcomes, a closed set. Their numbers are on the wire.
const (
	Delivered Outcome = iota + 1
	Retried           // attempted, failed, and waits on a retry topic
	Withheld          // not attempted since its endpoints are down, and waits on a retry topic
	Deferred          // not attempted for want of a slot or of time, and waits on a retry topic once more
	Dead              // in dead-letters
)

// String is the word for people.
func (o Outcome) String() string { return word(outcomes[:], uint8(o)) }

var outcomes = [...]string{"", "delivered", "retried", "withheld", "deferred", "dead"}

// Waits reports whether the event goes on waiting, on Attempt.Topic until Attempt.Until.
func (o Outcome) Waits() bool { return o == Retried || o == Withheld || o == Deferred }

// Attempt is how one record ended at a sink.
type Attempt struct {
	Offset      int64
	Fingerprint uint64
	Destination string // empty: the record did not say
	Source      string
	Outcome     Outcome
	Reason      schemas.Reason // of what was not delivered; empty where there was no failure yet
	// Endpoints says which of the destination's endpoints were asked: bit 0 is the first.
	Endpoints uint8
	Took      time.Duration // of the attempt, in whole milliseconds; zero: there was none
	At        time.Time     // when the record ended, to the millisecond
	Number    int           // attempts made so far, with this one
	Withheld  int           // attempts withheld so far, with this one
	Until     time.Time     // of one that waits: when it is due, to the millisecond
	Topic     string        // of one that waits: where
	Run       string        // id of the replay that sent the event once more; empty: it is a live one
}

func word(words []string, n uint8) string {
	if int(n) < len(words) && n > 0 {
		return words[n]
	}
	return "unknown(" + strconv.Itoa(int(n)) + ")"
}

// kind is what a record has entries of.
type kind byte

const (
	calls    kind = 'c'
	attempts kind = 'a'
)

// Record is a record that was read.
type Record struct {
	Head

	kind     kind
	texts    []string
	verdicts []verdict // of calls
	shapes   []shape   // of attempts
	count    int

	offsets, runs, prints []byte // of calls
	entries               []byte // of attempts
}

// Len is how many calls or attempts there are.
func (r *Record) Len() int { return r.count }

// OfCalls reports whether the record is a router's, else it is a sink's.
func (r *Record) OfCalls() bool { return r.kind == calls }

// verdict is what calls that follow on one another have in common.
type verdict struct {
	source    string
	result    CallResult
	reason    schemas.Reason
	decisions []Decision
}

// shape is what attempts have in common.
type shape struct {
	destination, source string
	outcome             Outcome
	reason              schemas.Reason
	topic               string
	endpoints           uint8
	number, withheld    int
	run                 string
}

// maxMillis is the last millisecond of the year 9999: the latest time that there is.
const maxMillis = 253402300799999

// maxTook bounds how long an attempt took, in milliseconds.
const maxTook = 1 << 40

// errCut is said of bytes that end too early.
var errCut = errors.New("it is cut off")
