package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/schedule"
	"github.com/anabranch/anabranch/analytics/internal/upload"
)

// Policy is what happens to a message for which there is no room.
type Policy int

// The policies of a full queue.
const (
	Block      Policy = iota // its caller waits
	Refuse                   // its caller gets ErrFull
	DropOldest               // the oldest message that waits makes room
)

// Errors of messages that were not sent. The first two are answers to a caller,
// the others outcomes of messages that had been let in.
var (
	ErrClosed  = errors.New("the client is closed")
	ErrFull    = errors.New("the queue is full")
	ErrDropped = errors.New("dropped from the full queue to make room for newer messages")
	ErrExpired = errors.New("given up, since the server has not taken it in time")
	ErrUnsent  = errors.New("not sent before the client was closed")
)

// Config is what a Dispatcher works with; every field is needed.
type Config struct {
	FlushAt       int           // messages that make a batch leave
	FlushAfter    time.Duration // since a batch left, for the next one
	BatchMessages int           // in a batch at most
	BatchBytes    int           // of them in a batch at most, with a comma each
	MaxMessages   int           // let in and without an outcome
	MaxBytes      int           // of memory that these take, unless it is one alone
	MaxInFlight   int           // requests under way; with 1 messages leave in the order of the calls
	MaxAge        time.Duration // after which a message is given up; 0: it never is
	Full          Policy

	// Post makes one attempt to send a batch.
	Post func(ctx context.Context, id string, batch []*queue.Message) upload.Answer
	// Report is called once for each message that was let in; err is nil when the
	// server has it. Calls for messages of different users may overlap.
	Report func(m *queue.Message, err error)
	Log    *slog.Logger
}

// Stats are counts of messages since the start. Accepted = Sent + Rejected +
// Dropped + Expired + Unsent + Queued.
type Stats struct {
	Accepted, Sent, Rejected, Dropped, Expired, Unsent uint64

	Refused  uint64 // not let in: the queue was full
	Requests uint64 // attempts that have ended
	Retries  uint64 // of these, such as have to be repeated

	Queued      int // let in and without an outcome
	QueuedBytes int // of memory that these take
	InFlight    int // requests under way
}

// trigger is what makes a batch leave without being due.
func (c *Config) trigger() schedule.Trigger {
	return schedule.Trigger{Messages: c.FlushAt, Bytes: c.BatchBytes}
}
