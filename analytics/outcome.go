package analytics

import "github.com/anabranch/anabranch/analytics/internal/queue"

// Outcome is what became of a message that was queued.
type Outcome struct {
	MessageID string
	Type      string // "track", …
	// Err is nil when the server has taken the message; otherwise a
	// [*RefusedError], or [ErrDropped] or [ErrUnsent] for errors.Is.
	Err error
}

// report tells the callback.
func (c *Client) report(m *queue.Message, err error) {
	if c.callback != nil {
		c.callback(Outcome{MessageID: m.ID, Type: m.Type, Err: refused(err)})
	}
}

// Stats counts messages since the client was made. At any moment
// Accepted = Sent + Rejected + Dropped + Unsent + Queued.
type Stats struct {
	Accepted uint64 // calls that returned nil
	Sent     uint64 // taken by the server
	Rejected uint64 // refused by the server
	Dropped  uint64 // made room for younger ones
	Unsent   uint64 // left over when the client was closed
	Refused  uint64 // calls that returned ErrQueueFull

	Requests uint64 // attempts that have ended
	Retries  uint64 // of these, such as had to be repeated

	Queued      int // messages without an outcome, those on their way included
	QueuedBytes int // of their JSON
	InFlight    int // requests under way, or waiting to be made again
}

// Stats returns a snapshot; its numbers fit together.
func (c *Client) Stats() Stats {
	if c.start() != nil {
		return Stats{}
	}
	return Stats(c.dispatcher.Stats())
}
