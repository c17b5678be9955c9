package webhooksink

import (
	"fmt"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
)

// verdict says what is to become of an event after an attempt.
type verdict = post.Verdict

// The verdicts, a closed set. An abandoned attempt was cut short by our own
// shutdown: it is no failure, nothing is written about it, its offset stays
// uncommitted, and the event is attempted again by whoever gets it next.
const (
	delivered = post.Delivered
	retry     = post.Retry
	dead      = post.Dead
	abandoned = post.Abandoned
)

// outcome is how one attempt at one destination ended.
type outcome struct {
	verdict    verdict
	reason     schemas.Reason // empty when delivered or abandoned
	retryAfter time.Duration  // the largest wait that an endpoint to be repeated asked for, uncapped; zero: the ordinary schedule
	endpoints  []uint64       // with retry: fingerprints of the endpoints worth repeating, at least one
	detail     string         // for customers; far below the 256 bytes of a record header
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
func fold(results []result) outcome {
	if len(results) == 0 {
		return outcome{verdict: dead, reason: schemas.ReasonDestinationRemoved, detail: "destination has no endpoints"}
	}
	var again outcome
	for i := range results {
		switch r := &results[i]; r.Verdict {
		case delivered:
			return outcome{verdict: delivered}
		case abandoned:
			again = outcome{verdict: abandoned}
		case retry:
			again = again.repeat(r)
		case dead:
		}
	}
	if again.verdict == 0 {
		return outcome{verdict: dead, reason: results[0].Reason, detail: results[0].describe()}
	}
	return again
}

// repeat adds an endpoint worth repeating.
func (o outcome) repeat(r *result) outcome {
	switch o.verdict {
	case abandoned:
		return o
	case retry:
	default:
		o = outcome{verdict: retry, reason: r.Reason, detail: r.describe()}
	}
	o.endpoints = append(o.endpoints, r.fingerprint)
	o.retryAfter = max(o.retryAfter, r.RetryAfter)
	return o
}

// describe says which endpoint it is about where there is a choice.
func (r *result) describe() string {
	if r.of < 2 {
		return r.Detail
	}
	return fmt.Sprintf("endpoint %d of %d: %s", r.position, r.of, r.Detail)
}
