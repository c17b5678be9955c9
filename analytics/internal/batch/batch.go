package batch

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
)

// Batch is messages that have left together, until the server has decided on them.
type Batch struct {
	ID       string // of the request
	Messages []*queue.Message
	Again    bool // the last attempt was not the first

	Due      time.Time // of the next attempt
	Failures int       // attempts in a row, for the pause between them
	Timeouts int       // attempts that had no answer in time
	Decided  int       // count of batches that were decided on when the last attempt began
	Suspect  bool      // it is part of one that failed while others did not
	Asked    bool      // the server has said when
	Hurried  bool      // its pause was cut short by Close
}

// New makes one.
func New(messages []*queue.Message) *Batch {
	return &Batch{
		ID: upload.NewID(), Messages: messages,
		Suspect: slices.ContainsFunc(messages, func(m *queue.Message) bool { return m.Together > 0 }),
	}
}

// patience is how many failures a batch may have before it is divided, when there is
// reason to think that it is one of its messages that the server fails over.
const patience = 3

// Divide reports whether a batch is better attempted in parts after an attempt has
// failed: the server can't take as much at once, or does not get through with it in
// time, or fails over one of its messages, which others should not wait for.
// likely says that it is rather the batch than the server that is at fault.
func (b *Batch) Divide(answer upload.Answer, likely bool) bool {
	switch {
	case len(b.Messages) < 2:
		return false
	case TooMuch(answer):
		return true
	case answer.TimedOut:
		return b.Timeouts > 1
	}
	return status(answer) >= 500 && answer.After == 0 && likely && (b.Suspect || b.Failures >= patience)
}

// TooMuch reports whether something on the way refuses the request for its size.
func TooMuch(answer upload.Answer) bool {
	return status(answer) == http.StatusRequestEntityTooLarge && answer.Rejected == nil
}

// status is that of the server's answer, or 0 when it was none.
func status(answer upload.Answer) int {
	var refusal *upload.Refusal
	if errors.As(answer.Err, &refusal) {
		return refusal.Status
	}
	return 0
}

// Halve keeps the first half of the batch and returns the rest.
func (b *Batch) Halve() (rest []*queue.Message) {
	half := (len(b.Messages) + 1) / 2
	rest = b.Messages[half:]
	b.Messages = slices.Clone(b.Messages[:half])
	b.ID = upload.NewID() // it is another request
	b.Failures = 0
	return rest
}

// Hurry has a batch attempted now, once, when the client is being closed: it has better
// things to do with the time that is left than to wait.
func (b *Batch) Hurry(now time.Time) { b.Due, b.Hurried, b.Failures = now, true, 0 }

// Outlive keeps the messages of before a moment and returns the others.
func (b *Batch) Outlive(moment time.Time) (young []*queue.Message) {
	n := slices.IndexFunc(b.Messages, func(m *queue.Message) bool { return !m.At.Before(moment) })
	if n < 0 {
		return nil
	}
	young = b.Messages[n:]
	b.Messages = b.Messages[:n:n]
	return young
}
