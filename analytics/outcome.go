package analytics

import (
	"encoding/json"

	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// Outcome is what became of a message that was queued.
type Outcome struct {
	MessageID string
	Type      string // "track", …
	// Err is nil when the server has taken the message; otherwise a
	// [*RefusedError], or [ErrDropped], [ErrExpired] or [ErrUnsent] for errors.Is.
	Err error
	// JSON is the message as it was sent. It may be kept, and must not be changed.
	JSON json.RawMessage
}

// Unsent returns the message in the form in which it may be kept and queued again.
func (o Outcome) Unsent() Unsent {
	return Unsent{MessageID: o.MessageID, Type: o.Type, JSON: o.JSON}
}

// report tells the callback and the metrics.
func (c *Client) report(m *queue.Message, err error) {
	c.hooks.CountOutcome(err)
	if c.callback != nil {
		c.hooks.Call("callback", func() { c.callback(Outcome{MessageID: m.ID, Type: m.Type, Err: refused(err), JSON: m.JSON}) })
	}
}

// Stats counts messages since the client was made. At any moment
// Accepted = Sent + Rejected + Dropped + Expired + Unsent + Queued.
type Stats struct {
	Accepted uint64 // queued
	Sent     uint64 // taken by the server
	Rejected uint64 // refused by the server
	Dropped  uint64 // made room for younger ones
	Expired  uint64 // given up for their age
	Unsent   uint64 // left over when the client was closed
	Refused  uint64 // calls that returned ErrQueueFull
	Filtered uint64 // calls that the function of WithBeforeEnqueue has dropped

	Requests uint64 // attempts that have ended
	Retries  uint64 // of these, such as had to be repeated
	Panics   uint64 // of callbacks, log handlers, transports and the like

	Queued      int // messages without an outcome, those on their way included
	QueuedBytes int // of memory that these take
	InFlight    int // requests under way
}

// Stats returns a snapshot; its numbers fit together.
func (c *Client) Stats() Stats {
	if c.start() != nil {
		return Stats{}
	}
	s := c.dispatcher.Stats()
	return Stats{
		Accepted: s.Accepted, Sent: s.Sent, Rejected: s.Rejected, Dropped: s.Dropped, Expired: s.Expired, Unsent: s.Unsent,
		Refused: s.Refused, Filtered: c.filtered.Load(),
		Requests: s.Requests, Retries: s.Retries, Panics: c.hooks.Panics(),
		Queued: s.Queued, QueuedBytes: s.QueuedBytes, InFlight: s.InFlight,
	}
}
