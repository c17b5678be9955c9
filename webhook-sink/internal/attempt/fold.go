package attempt

import (
	"fmt"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// fold makes one outcome of an attempt's calls, which are in the order of the
// destination's list:
//
//   - any endpoint delivered: the event is, and the others are not retried
//     (spec.md, Endpoints);
//   - else, any was abandoned: there is no verdict yet;
//   - else, any is worth another try: those are repeated, not before the last of
//     them wants to be. The reason is that of the first of them;
//   - else the event is dead, for the reason of the first endpoint.
func fold(calls []call) outcome.Outcome {
	if len(calls) == 0 {
		return outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonDestinationRemoved, Detail: "destination has no endpoints"}
	}
	var again outcome.Outcome
	for i := range calls {
		switch c := &calls[i]; c.outcome.Verdict {
		case outcome.Delivered:
			return outcome.Outcome{Verdict: outcome.Delivered}
		case outcome.Abandoned:
			again = outcome.Outcome{Verdict: outcome.Abandoned}
		case outcome.Retry:
			again = c.repeatIn(again)
		case outcome.Dead, outcome.None, outcome.Withheld:
		}
	}
	if again.Verdict == outcome.None {
		return outcome.Outcome{Verdict: outcome.Dead, Reason: calls[0].outcome.Reason, Detail: calls[0].detail(), Answer: calls[0].outcome.Answer}
	}
	return again
}

// repeatIn returns an outcome to which an endpoint worth repeating is added.
func (c *call) repeatIn(o outcome.Outcome) outcome.Outcome {
	switch o.Verdict {
	case outcome.Abandoned: // the next to get the event begins with all endpoints anew
		return o
	case outcome.None:
		o = outcome.Outcome{Verdict: outcome.Retry, Reason: c.outcome.Reason, Detail: c.detail(), Answer: c.outcome.Answer}
	case outcome.Retry, outcome.Delivered, outcome.Dead, outcome.Withheld:
	}
	o.Endpoints = append(o.Endpoints, c.endpoint.fingerprint)
	o.RetryAfter = max(o.RetryAfter, c.outcome.RetryAfter)
	return o
}

// detail says which endpoint it is about where there is a choice.
func (c *call) detail() string {
	if c.endpoint.of < 2 {
		return c.outcome.Detail
	}
	return fmt.Sprintf("endpoint %d of %d: %s", c.endpoint.position, c.endpoint.of, c.outcome.Detail)
}
