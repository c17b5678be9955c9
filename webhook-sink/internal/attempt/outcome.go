package attempt

import (
	"fmt"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
)

// Verdict says what is to become of an event after an attempt.
type Verdict uint8

// The verdicts, a closed set.
const (
	// Delivered: an endpoint took the event.
	Delivered Verdict = iota + 1
	// Retry: none took it, and at least one is worth another try.
	Retry
	// Dead: none took it, and none will.
	Dead
	// Abandoned: cut short by our own shutdown. It is no failure, nothing is
	// written about it, its offset stays uncommitted, and the event is attempted
	// again by whoever gets it next.
	Abandoned
	// Withheld: nothing was sent, since every endpoint is known to be down and it
	// is not time yet to see whether one is back.
	Withheld
)

// Outcome is how one attempt at one destination ended.
type Outcome struct {
	Verdict    Verdict
	Reason     schemas.Reason // empty when delivered or abandoned
	RetryAfter time.Duration  // with Retry: the largest wait that an endpoint to be repeated asked for, uncapped; zero: the ordinary schedule
	Endpoints  []uint64       // with Retry: fingerprints of the endpoints worth repeating, at least one
	Detail     string         // for customers; far below the 256 bytes of a record header
	Until      time.Time      // with Withheld: when an endpoint is looked at again; Reason and Detail are those of its last failure
}

// result is how the POST to one of a destination's endpoints ended.
type result struct {
	post.Result

	fingerprint uint64
	position    int // in the destination's list, from 1
	of          int // length of that list
}

// fold makes one outcome of the results of an attempt, which are in the order of
// the destination's list:
//
//   - any endpoint delivered: the event is, and the others are not retried
//     (spec.md, Endpoints);
//   - else, any was abandoned: there is no verdict yet;
//   - else, any is worth another try: those are repeated, not before the last of
//     them wants to be. The reason is that of the first of them;
//   - else the event is dead, for the reason of the first endpoint.
func fold(results []result) Outcome {
	if len(results) == 0 {
		return Outcome{Verdict: Dead, Reason: schemas.ReasonDestinationRemoved, Detail: "destination has no endpoints"}
	}
	var again Outcome
	for i := range results {
		switch r := &results[i]; r.Verdict {
		case post.Delivered:
			return Outcome{Verdict: Delivered}
		case post.Abandoned:
			again = Outcome{Verdict: Abandoned}
		case post.Retry:
			again = again.repeat(r)
		case post.Dead:
		}
	}
	if again.Verdict == 0 {
		return Outcome{Verdict: Dead, Reason: results[0].Reason, Detail: results[0].describe()}
	}
	return again
}

// repeat adds an endpoint worth repeating.
func (o Outcome) repeat(r *result) Outcome {
	switch o.Verdict {
	case Abandoned:
		return o
	case Retry:
	default:
		o = Outcome{Verdict: Retry, Reason: r.Reason, Detail: r.describe()}
	}
	o.Endpoints = append(o.Endpoints, r.fingerprint)
	o.RetryAfter = max(o.RetryAfter, r.RetryAfter)
	return o
}

// describe says which endpoint it is about where there is a choice.
func (r *result) describe() string {
	if r.of < 2 {
		return r.Detail
	}
	return fmt.Sprintf("endpoint %d of %d: %s", r.position, r.of, r.Detail)
}
