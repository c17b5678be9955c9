package analytics

import (
	"context"
	"errors"
	"maps"
	"reflect"
)

// WithBeforeEnqueue sets a function that sees each call before it is checked and
// queued, with the context given to [Client.Enqueue]; for the methods named after the
// calls that is [context.Background]. What it returns is queued in the call's place;
// nil drops the call, which returns nil then and is counted in [Stats].
//
// The call is a pointer to one of the message types, a copy: its fields may be set.
// Its maps are still the caller's and have to be cloned before they are changed, as
// [AddContext] does. A function that panics costs the call, which returns an error: what
// it was to remove must not be sent. An [Unsent] is not seen again.
func WithBeforeEnqueue(f func(ctx context.Context, call Call) Call) Option {
	return set(func(c *Client) { c.before = f })
}

// errPanicked is returned when a function of [WithBeforeEnqueue] has panicked.
var errPanicked = errors.New("analytics: the function of WithBeforeEnqueue has panicked")

// prepare has the user's function see a call; a nil call is one that it has dropped.
func (c *Client) prepare(ctx context.Context, call Call) (prepared Call, err error) {
	if !c.hooks.Call("function of WithBeforeEnqueue", func() { prepared = c.before(ctx, duplicate(call)) }) {
		return nil, errPanicked
	}
	return prepared, nil
}

// again reports whether a call has been prepared before.
func again(call Call) bool {
	switch call.(type) {
	case Unsent, *Unsent:
		return true
	}
	return false
}

// duplicate returns a pointer to a copy of a call.
func duplicate(call Call) Call {
	m := reflect.Indirect(reflect.ValueOf(call))
	own := reflect.New(m.Type())
	own.Elem().Set(m)
	return own.Interface().(Call)
}

// AddContext returns a copy of a call with members added to its context, as a pointer.
// Where the call has one of that name, it stays. An [Unsent] is what it was.
func AddContext(call Call, context map[string]any) Call {
	if absent(call) {
		return call
	}
	call = duplicate(call)
	all := maps.Clone(context)
	if own := reflect.ValueOf(call).Elem().FieldByName("Context"); own.IsValid() && own.Type() == reflect.TypeFor[map[string]any]() && all != nil {
		maps.Copy(all, own.Interface().(map[string]any))
		own.Set(reflect.ValueOf(all))
	}
	return call
}

// Metrics is told what a client does, as it does it, by any goroutine. [Stats] has the
// same counts for those who ask.
type Metrics interface {
	// Count adds to a counter of messages: "accepted", "sent", "rejected", "dropped",
	// "expired", "unsent", "refused" (calls that returned an error) or "filtered"
	// ([WithBeforeEnqueue]); or to one of events: "retries" (requests that have to be
	// repeated) or "panics".
	Count(name string, delta int)
	// Observe adds to a distribution: "request_seconds" or "request_messages".
	Observe(name string, value float64)
}

// WithMetrics sets who is told what the client does.
func WithMetrics(metrics Metrics) Option {
	return set(func(c *Client) { c.metrics = metrics })
}
