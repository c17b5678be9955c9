package messagetrace

import (
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Outcome is what became of a call at one destination, or as a whole.
type Outcome string

// The outcomes. Unknown is only ever said where the journal does not reach: before it was
// switched on, while it was off, or beyond its retention.
const (
	Delivered   Outcome = "delivered"
	Filtered    Outcome = "filtered"
	Dead        Outcome = "dead"
	Waiting     Outcome = "waiting"
	Duplicate   Outcome = "duplicate"
	Unconnected Outcome = "unconnected"
	Unknown     Outcome = "unknown"
)

// Trace is all that is known of the calls with one messageId. Times are UTC, to the
// millisecond.
type Trace struct {
	MessageID string `json:"message_id"`
	Calls     []Call `json:"calls"` // the oldest first
	// Suppressed and Deleting say of the user, of the calls or of the question, that calls
	// are dropped, and that a deletion request is being carried out.
	Suppressed bool     `json:"suppressed,omitempty"`
	Deleting   []string `json:"deleting,omitempty"` // ids of requests
	Searched   Searched `json:"searched"`
	// Notes say what can't be known, and why.
	Notes []string `json:"notes,omitempty"`
}

// Searched is where was looked for calls.
type Searched struct {
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
	Partitions int       `json:"partitions"` // of raw-events
	Of         int       `json:"of"`
	Records    int64     `json:"records"` // offsets that were looked at
}

// Call is one call, as it came and what became of it.
type Call struct {
	Source       string        `json:"source"`
	Type         schemas.Type  `json:"type"`
	ReceivedAt   time.Time     `json:"received_at"`
	Destinations []Destination `json:"destinations"` // one with an empty id for what became of the call as a whole

	Event         string         `json:"event,omitempty"` // of a track call
	User          string         `json:"user,omitempty"`  // key of the record: who made the call
	Origin        schemas.Origin `json:"origin,omitempty"`
	ClientAddress string         `json:"client_address,omitempty"` // if ingest keeps it
	Bytes         int            `json:"bytes"`
	Record        string         `json:"record,omitempty"` // where it stands: raw-events[3]@1704
	RoutedAt      *time.Time     `json:"routed_at,omitempty"`
	Violations    []Violation    `json:"violations,omitempty"` // of the source's tracking plan, of a call that was marked
	Notes         []string       `json:"notes,omitempty"`
	// Replays are what replays have sent of the call, as far as their topics still hold it,
	// the earliest first.
	Replays []Replay `json:"replays,omitempty"`
}

// Replay is what became of a call at a destination that a replay sent it to.
type Replay struct {
	Run    string    `json:"run"`
	SentAt time.Time `json:"sent_at"`
	Destination
}

// Violation is something that a tracking plan has against a call.
type Violation struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Destination is what became of a call at one destination.
type Destination struct {
	ID      string  `json:"id"`
	Outcome Outcome `json:"outcome"`
	// Reason is why it is dead or waiting; of what is filtered the key of the integrations
	// map that decided.
	Reason       string       `json:"reason,omitempty"`
	Attempts     []Attempt    `json:"attempts"`
	WaitingUntil *time.Time   `json:"waiting_until,omitempty"` // nil: as soon as the stage gets to it
	WaitingOn    string       `json:"waiting_on,omitempty"`    // topic
	DeadLetters  []DeadLetter `json:"dead_letters,omitempty"`
	// WrittenTo is the topic that the destination is, and where the event stands there:
	// deliver.export.warehouse[3]@1704; the topic alone where it does not hold it any more.
	WrittenTo string `json:"written_to,omitempty"`
	// ArchivedIn is the object of an archive that holds the event:
	// website/2026-11-23/3-00000000000000012000-00000000000000013000.ndjson.gz.
	ArchivedIn string `json:"archived_in,omitempty"`
	// Changed says that the destination was changed since the call was taken, so that
	// endpoints may be others than those that were asked.
	Changed bool     `json:"changed,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// Attempt is what a sink did with the event once.
type Attempt struct {
	At       time.Time `json:"at"`       // when it ended
	Endpoint string    `json:"endpoint"` // host, of several one after the other; empty: none was asked
	Status   string    `json:"status"`   // 2xx to 5xx; empty: there was no answer
	// Verdict is delivered, retried, dead, withheld (not attempted, since the endpoint is
	// known to be down) or deferred (not attempted for want of a slot, or while paused).
	Verdict string         `json:"verdict"`
	MS      int64          `json:"ms"`
	Number  int            `json:"number"`
	Reason  schemas.Reason `json:"reason,omitempty"`
	Until   *time.Time     `json:"until,omitempty"` // of what goes on waiting
	// Repeat says that the same attempt was made before: a sink ended before it could
	// commit it, so the endpoint may have got the event twice.
	Repeat bool `json:"repeat,omitempty"`
}

// DeadLetter is where an event went that was given up.
type DeadLetter struct {
	ID         string         `json:"id"` // as `anabranch dead-letters show` takes it
	At         time.Time      `json:"at"`
	Reason     schemas.Reason `json:"reason"`
	Detail     string         `json:"detail,omitempty"`
	RedrivenAt *time.Time     `json:"redriven_at,omitempty"`
	Arrived    bool           `json:"arrived,omitempty"` // redriven to a topic that others read
}
