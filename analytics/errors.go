package analytics

import (
	"fmt"
	"strconv"

	"github.com/anabranch/anabranch/analytics/internal/dispatch"
	"github.com/anabranch/anabranch/analytics/internal/upload"
)

// Errors of a call; errors.Is finds them.
var (
	// ErrClosed is returned by every call that would queue a message, or close, after
	// the first Close. Flush has nothing to wait for then, and returns nil.
	ErrClosed = dispatch.ErrClosed
	// ErrQueueFull is returned when there is no room for a message: at once under
	// [Refuse]; under [Block] when the context has ended first, with its cause.
	ErrQueueFull = dispatch.ErrFull
)

// Outcomes of a message that had been queued; errors.Is finds them.
var (
	// ErrDropped is the outcome of a message that made room for younger ones
	// ([DropOldest]).
	ErrDropped = dispatch.ErrDropped
	// ErrExpired is the outcome of a message that the server has not taken in the time
	// that there was for it ([WithMaxAge]). It comes with the error of the last attempt.
	ErrExpired = dispatch.ErrExpired
	// ErrUnsent is the outcome of a message that was not sent before the client was
	// closed. It comes with the error of the last attempt.
	ErrUnsent = dispatch.ErrUnsent
)

// MissingFieldError is returned for a message that lacks what its kind requires. Its
// text is version 2's.
type MissingFieldError struct {
	Call  string // "track", …; empty when the call was nil
	Field string // "event", "userId", "previousId", "groupId", "anonymousId or userId"
}

// Error returns the text of version 2.
func (e *MissingFieldError) Error() string {
	switch e.Field {
	case "event":
		return "You must pass 'event'."
	case "anonymousId or userId":
		return "You must pass either an 'anonymousId' or 'userId'."
	}
	return "You must pass a '" + e.Field + "'."
}

// TooLargeError is returned for a message over 32,768 bytes of JSON, or a messageId
// over 100 characters.
type TooLargeError struct {
	Call  string // "track", …
	What  string // "message" or "messageId"
	Limit int
	Unit  string // "bytes" or "characters"
}

// Error names the limit.
func (e *TooLargeError) Error() string {
	return e.Call + ": the " + e.What + " has more than " + strconv.Itoa(e.Limit) + " " + e.Unit
}

// EncodeError is returned for a message with a value that can't be written as JSON.
type EncodeError struct {
	Call string // "track", …
	Path string // of the value, as in "properties.items[3].price"
	Err  error  // as of encoding/json
}

// Error names the value.
func (e *EncodeError) Error() string { return e.Call + ": encode " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *EncodeError) Unwrap() error { return e.Err }

// OptionError is returned by [NewClient], or by the first call on a client whose
// fields have such a value.
type OptionError struct {
	Name  string // of the option, or of the field of Client
	Value any
	Want  string // what was expected
}

// Error names the option, its value and what was expected.
func (e *OptionError) Error() string {
	return fmt.Sprintf("analytics: %s is %v, want %s", e.Name, e.Value, e.Want)
}

// RefusedError is the outcome of a message that the server has refused. It is not
// sent again.
type RefusedError struct {
	Status  int    // of HTTP
	Code    string // of the answer, as "too_large"; may be empty
	Message string // of the answer; may be empty
	Alone   bool   // the server took the rest of the batch
	err     error
}

// Error names status, code and message.
func (e *RefusedError) Error() string { return "refused by the server: " + e.err.Error() }

// refused makes the public error of what an upload came to.
func refused(err error) error {
	r, ok := err.(*upload.Refusal) //nolint:errorlint // an outcome is never wrapped, and others have a Refusal inside
	if !ok {
		return err
	}
	return &RefusedError{Status: r.Status, Code: r.Code, Message: r.Message, Alone: r.Status < 300, err: r}
}
