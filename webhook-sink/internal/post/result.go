package post

import (
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Verdict says what is to become of an event at an endpoint.
type Verdict uint8

// The verdicts, a closed set.
const (
	Delivered Verdict = iota + 1 // the endpoint answered 2xx
	Retry                        // it failed in a way worth another try
	Dead                         // another try would end the same
	Abandoned                    // our own shutdown cut it short: no verdict, and the event counts as not tried
)

// Result is how one POST to one endpoint ended.
type Result struct {
	Verdict    Verdict
	Reason     schemas.Reason // empty when delivered or abandoned
	RetryAfter time.Duration  // what the endpoint asked for, with Retry; zero: nothing readable
	Detail     string         // for customers: one of a few phrases, never an address or bytes of the receiver
	Cause      string         // for the operator's log: may name addresses, never a secret or bytes of the receiver
}
