package analytics

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/dispatch"
	"github.com/anabranch/anabranch/analytics/internal/wire"
)

// Option is a setting of [NewClient].
type Option func(*Client) error

// WithEndpoint sets where the client sends to: the URL of the service, or of the
// request itself when its path ends in "/batch" or "/import". It is the field
// Endpoint.
func WithEndpoint(url string) Option {
	return set(func(c *Client) { c.Endpoint = url }) // checked when the client starts
}

// WithFlushAt sets how many queued messages make a batch leave: 1 to 2,500, 20 unless
// set. It has as many as wait by then, up to 2,500 and 512,000 bytes. With 1 each message
// leaves at once, in a request of its own. It is the field FlushAt.
func WithFlushAt(messages int) Option {
	return func(c *Client) error {
		c.Size, c.FlushAt = messages, messages
		return within("WithFlushAt", messages, 1, wire.MaxBatchMessages)
	}
}

// WithFlushAfter sets how long after a batch the next one leaves even if it has
// fewer messages: 5 seconds unless set. It is the field FlushAfter.
func WithFlushAfter(d time.Duration) Option {
	return func(c *Client) error {
		c.Interval, c.FlushAfter = d, d
		return positive("WithFlushAfter", d)
	}
}

// WithHTTPClient sets the client that makes the requests. It is the field Client.
// Unless it has a CheckRedirect of its own, 307 and 308 alone are followed.
func WithHTTPClient(client *http.Client) Option {
	return func(c *Client) error {
		if client == nil {
			return &OptionError{"WithHTTPClient", nil, "a client"}
		}
		c.Client = *client
		return nil
	}
}

// WithLogger sets where the client writes what it does: each message and each batch, and
// each call that returned an error, at level debug; each attempt that has to be repeated
// at warn; each refusal at error. Neither the write key nor what messages say is logged.
// It goes before the field Logger; with DEBUG=analytics in the environment that has what
// this logger leaves out.
func WithLogger(logger *slog.Logger) Option {
	return set(func(c *Client) { c.log = logger })
}

// WithCallback sets a function that is told the outcome of each queued message,
// once, in the order of the calls for each user. It is called by the goroutines that
// send, several at a time for different users, so it should be quick; it may queue
// messages, and must not call Flush, Close or CloseContext, which wait for it.
//
// A message that is dropped ([DropOldest]) is reported by the call that took its
// place, before that returns, and before older messages of its user that are on
// their way. A callback that queues another for each of these would be called by
// itself without end. CloseContext reports what was not sent.
func WithCallback(f func(Outcome)) Option {
	return set(func(c *Client) { c.callback = f })
}

// WithQueue bounds what is queued or on its way: 100,000 messages and 64 MiB of memory
// unless set. bytes is at least 32,768, the size of a message; one has room in any case
// when nothing else is queued.
func WithQueue(messages, bytes int) Option {
	return func(c *Client) error {
		c.maxMessages, c.maxBytes = messages, bytes
		if err := within("WithQueue(messages)", messages, 1, 1<<31-1); err != nil {
			return err
		}
		return within("WithQueue(bytes)", bytes, wire.MaxBytes, 1<<62)
	}
}

// Full is what happens to a message for which the queue has no room.
type Full int

// What happens when the queue is full.
const (
	// Block has the call wait: under [Client.Enqueue] until its context ends,
	// otherwise until the client is closed. It is the default of [New], since version 2
	// does so. [Client.TryEnqueue] never waits.
	Block = Full(dispatch.Block)
	// Refuse has the call return [ErrQueueFull]. It is the default of [NewClient].
	Refuse = Full(dispatch.Refuse)
	// DropOldest drops the oldest message that is not on its way. It is counted, and
	// reported with [ErrDropped].
	DropOldest = Full(dispatch.DropOldest)
)

// WhenFull sets what happens to a message for which the queue has no room.
func WhenFull(full Full) Option {
	return func(c *Client) error {
		c.full = full
		return within("WhenFull", int(full), int(Block), int(DropOldest))
	}
}

// WithMaxInFlight sets how many requests are under way at a time: 8 unless set. With
// 1 all messages arrive in the order of the calls, not only those of each user.
func WithMaxInFlight(requests int) Option {
	return func(c *Client) error {
		c.maxInFlight = requests
		return within("WithMaxInFlight", requests, 1, 1<<16)
	}
}

// WithMaxAge sets for how long the client tries to send a message: without end unless
// set. After that it is given up, which is counted, logged, and reported with
// [ErrExpired]. A request that is under way is not cut for it.
func WithMaxAge(d time.Duration) Option {
	return func(c *Client) error {
		c.maxAge = d
		return positive("WithMaxAge", d)
	}
}

// WithCompression sets whether requests of more than 1 KB are compressed with gzip.
// Those of a client by [NewClient] are unless set, those of [New] are not. A server
// that answers 415 gets them as they are from then on.
func WithCompression(on bool) Option {
	return set(func(c *Client) { c.compress = on })
}

// WithRequestTimeout bounds an attempt, up to the end of its answer: 15 seconds
// unless set. After it the batch is sent again, so it should be longer than the server
// ever takes.
func WithRequestTimeout(d time.Duration) Option {
	return func(c *Client) error {
		c.requestTimeout = d
		return positive("WithRequestTimeout", d)
	}
}

// WithCloseTimeout bounds [Client.Close]: 30 seconds unless set.
func WithCloseTimeout(d time.Duration) Option {
	return func(c *Client) error {
		c.closeTimeout = d
		return positive("WithCloseTimeout", d)
	}
}

// WithContext adds to the context that is sent with every batch, and so is part of
// every message.
func WithContext(context map[string]any) Option {
	return set(func(c *Client) { c.context = maps.Clone(context) })
}

// set is an option that can't be wrong by itself.
func set(do func(*Client)) Option {
	return func(c *Client) error {
		do(c)
		return nil
	}
}

func within(name string, value, least, most int) error {
	if value < least || value > most {
		return &OptionError{name, value, fmt.Sprintf("at least %d and at most %d", least, most)}
	}
	return nil
}

func positive(name string, d time.Duration) error {
	if d <= 0 {
		return &OptionError{name, d, "more than 0"}
	}
	return nil
}
