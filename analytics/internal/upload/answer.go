package upload

import (
	"fmt"
	"time"
)

// Verdict is what an attempt came to.
type Verdict int

// An attempt ends in one of three ways.
const (
	// Taken: the server has the batch, save what it lists as rejected.
	Taken Verdict = iota
	// Again: it does not, or it is not known; another attempt may do better.
	Again
	// Refused: it will not take the batch, however often it is sent.
	Refused
)

// Answer is what an attempt came to, and why.
type Answer struct {
	Verdict Verdict
	Err     error         // nil when the batch was taken; a [*Refusal] when the server answered
	After   time.Duration // how long the server asked to wait; 0 when it did not
	// TimedOut says that there was no answer in the time that an attempt has.
	TimedOut bool
	// Rejected has the messages which were refused each for a reason of its own, by
	// their index in the batch; nil as a rule (protocol, 7).
	Rejected map[int]*Refusal
}

// Refusal is an answer other than success, or what it said of one message.
type Refusal struct {
	Status  int    // of HTTP
	Code    string // of the answer's body; may be empty
	Message string // of the answer's body; may be empty
}

// Error returns the status, and code and message as far as there are any.
func (r *Refusal) Error() string {
	text := fmt.Sprintf("status %d", r.Status)
	if r.Code != "" {
		text += " " + r.Code
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// verdict decides on a status code.
func verdict(status int) Verdict {
	switch {
	case status >= 200 && status < 300:
		return Taken
	case status == 408 || status == 425 || status == 429 || status >= 500:
		return Again
	}
	return Refused
}
