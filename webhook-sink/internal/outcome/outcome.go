// Package outcome holds the words in which the sink's rooms tell one another how a
// delivery went. It stands below those that deliver and those that decide, so that
// no policy has to import an HTTP client.
package outcome

import (
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Verdict says what an attempt, or the POST to one endpoint, means for the event.
type Verdict uint8

// The verdicts, a closed set.
const (
	// None: there was no attempt. What becomes of the event was clear without one.
	None Verdict = iota
	// Delivered: an endpoint took the event.
	Delivered
	// Retry: none took it, and at least one is worth another try.
	Retry
	// Dead: none took it, and none will.
	Dead
	// Abandoned: cut short by our own shutdown. It is no failure, nothing is
	// written about it, its offset stays uncommitted, and the event is attempted
	// again by whoever gets it next.
	Abandoned
	// Withheld: nothing was sent, since every endpoint asked for is known to be down
	// and it is not time yet to see whether one is back. A single POST never has it.
	Withheld
)

// Outcome is how one attempt at one destination ended, or one POST of it. Its reason
// and details are empty when the event was delivered or the attempt abandoned.
type Outcome struct {
	Verdict    Verdict
	Reason     schemas.Reason
	Detail     string        // for customers, far below the 256 bytes of a record header: never an address, nor bytes of a receiver
	Cause      string        // for the operator's log, of a POST alone: may name addresses, never a secret or bytes of a receiver
	RetryAfter time.Duration // with Retry: the longest wait that an endpoint to be repeated asked for, uncapped; zero: the ordinary schedule
	Endpoints  []uint64      // with Retry, of an attempt: fingerprints of the endpoints worth repeating, at least one
	Until      time.Time     // with Withheld: when an endpoint is looked at again; Reason and Detail are those of its last failure
	// Partial: the attempt was for some of the destination's endpoints alone. That
	// they are down says nothing about the others.
	Partial bool
	Took    time.Duration // of an attempt
	Asked   uint8         // of an attempt: which endpoints were sent something, the first in bit 0
	// Answer is what an endpoint said, as far as that is kept: of an attempt the one that
	// Detail is about. Nil: nothing is.
	Answer *Answer
}

// Answer is what an endpoint said. It is for eyes that are allowed to see it, and never for
// a log.
type Answer struct {
	Status int
	Head   []byte // as it came; nil: it was not kept
	Body   []byte // how it begins
}

// LabelDelivered is the label of what was delivered; see [Outcome.Label].
const LabelDelivered = "delivered"

// Label is the word for metrics and spans: "delivered", else the reason.
func (o *Outcome) Label() string {
	if o.Verdict == Delivered {
		return LabelDelivered
	}
	return string(o.Reason)
}
