package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/anabranch/anabranch/analytics/internal/dispatch"
	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/wire"
)

// Enqueue queues a call of any kind. The context bounds how long it waits when the
// queue is full under [Block], and is what [WithBeforeEnqueue] is given; it has no
// effect on the sending.
//
// The error is a [*MissingFieldError], a [*TooLargeError] or an [*EncodeError] when
// the message can't be sent, [ErrQueueFull] when there is no room for it, [ErrClosed]
// after Close, and an [*OptionError] when a field of the client can't be used. The message
// is not queued then; nothing else is affected.
func (c *Client) Enqueue(ctx context.Context, call Call) error {
	return c.enqueue(ctx, call, (*dispatch.Dispatcher).Put)
}

// TryEnqueue is [Client.Enqueue] that never waits: when the queue is full under [Block]
// it returns [ErrQueueFull]. The context is for [WithBeforeEnqueue].
func (c *Client) TryEnqueue(ctx context.Context, call Call) error {
	return c.enqueue(ctx, call, (*dispatch.Dispatcher).Try)
}

func (c *Client) enqueue(ctx context.Context, call Call, put func(*dispatch.Dispatcher, context.Context, *queue.Message) error) error {
	if err := c.start(); err != nil { //nolint:contextcheck // the client outlives the call that starts it
		c.hooks.Log.Debug("call refused", "error", err)
		return err
	}
	m, err := c.encode(ctx, call)
	if m == nil && err == nil {
		c.filtered.Add(1)
		c.hooks.Count("filtered")
		c.hooks.Log.Debug("call dropped by the function of WithBeforeEnqueue")
		return nil
	}
	if err == nil {
		if c.hooks.Log.Enabled(ctx, slog.LevelDebug) { // before it leaves, and may be changed
			c.hooks.Log.Debug("call", "type", m.Type, "message_id", m.ID, "bytes", len(m.JSON))
		}
		err = put(c.dispatcher, ctx, m)
	}
	if err != nil {
		c.hooks.Count("refused")
		c.hooks.Log.Debug("call refused", "error", err)
		return err
	}
	c.hooks.Count("accepted")
	return nil
}

// encode makes the message of a call; it is nil without an error when the user's
// function has dropped the call.
func (c *Client) encode(ctx context.Context, call Call) (m *queue.Message, err error) {
	if absent(call) {
		return nil, &MissingFieldError{Field: "message"}
	}
	if c.before != nil && !again(call) {
		if call, err = c.prepare(ctx, call); err != nil || absent(call) {
			return nil, err
		}
	}
	return call.message()
}

// Flush has everything that was queued before it leave now, and waits until the
// server has decided on each message or ctx ends; the error is then the context's
// cause. When it returns nil the callback has been called for all of them.
func (c *Client) Flush(ctx context.Context) error {
	if err := c.start(); err != nil { //nolint:contextcheck // the client outlives the call that starts it
		return err
	}
	if err := c.dispatcher.Flush(ctx); err != nil {
		c.hooks.Log.Debug("flush ended before everything was decided on", "error", err)
		return fmt.Errorf("flush analytics client: %w", err)
	}
	return nil
}

// Close is [Client.CloseContext] with a deadline of 30 seconds ([WithCloseTimeout]).
// The error of messages that were not sent is an [*UnsentError], which has them.
func (c *Client) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), c.closeTimeout)
	defer cancel()
	_, err := c.CloseContext(ctx)
	return err
}

// CloseContext ends the client. From now on every call returns [ErrClosed], also
// one that waits for room; what is queued is sent, and sent again as often as it
// takes, until ctx ends. Then the requests under way are cut and the messages that
// were not sent are returned, in the order of the calls, together with an
// [*UnsentError]. Nothing of the client runs when it returns, unless a callback
// or a RoundTripper of the user's does not come back within a second.
//
// Only the first call closes. Any other waits until that one has, or its own context ends, and
// returns [ErrClosed].
func (c *Client) CloseContext(ctx context.Context) ([]Unsent, error) {
	if err := c.start(); err != nil { //nolint:contextcheck // the client outlives the call that starts it
		return nil, nil //nolint:nilerr // no call was ever let in, and each was told why
	}
	messages, err := c.dispatcher.Close(ctx)
	if errors.Is(err, dispatch.ErrClosed) {
		return nil, ErrClosed
	}
	c.release()
	if len(messages) == 0 {
		return nil, nil
	}
	unsent := make([]Unsent, len(messages))
	for i, m := range messages {
		unsent[i] = Unsent{MessageID: m.ID, Type: m.Type, JSON: m.JSON}
	}
	c.hooks.Log.Error("closed with messages that were not sent", "messages", len(unsent), "error", err)
	return unsent, &UnsentError{Messages: unsent, Err: err}
}

// Unsent is a message that was not sent before the client was closed, or that an
// [Outcome] is about. It may be kept and given to [Client.Enqueue] of another client, also
// by another process: it keeps its messageId and its time.
//
// If a request with it was under way it may have arrived all the same.
type Unsent struct {
	MessageID string          `json:"messageId"`
	Type      string          `json:"type"` // "track", …
	JSON      json.RawMessage `json:"json"` // as it would have been sent
}

func (u Unsent) message() (*queue.Message, error) {
	m, err := wire.Read(u.JSON)
	if err != nil {
		return nil, refuse(u.Type, err)
	}
	return m, nil
}

// UnsentError is the error of a Close that ended before everything was sent.
type UnsentError struct {
	Messages []Unsent
	Err      error // ErrUnsent, with the error of the last attempt if there was one
}

// Error says how many messages were not sent, and why.
func (e *UnsentError) Error() string {
	return fmt.Sprintf("close analytics client: %d messages: %v", len(e.Messages), e.Err)
}

// Unwrap returns the cause.
func (e *UnsentError) Unwrap() error { return e.Err }
