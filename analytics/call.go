package analytics

import (
	"errors"
	"reflect"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/encode"
	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/wire"
)

// Call is what [Client.Enqueue] takes: [Identify], [Track], [Page], [Screen],
// [Group], [Alias], a pointer to one of them, or an [Unsent].
type Call interface {
	// message checks the call and encodes it.
	message() (*queue.Message, error)
}

// encoded makes a message of a call whose own required members are there.
func encoded(c wire.Call, m Message) (*queue.Message, error) {
	c.SentAt = m.SentAt
	c.MessageID, c.Timestamp = m.MessageId, m.Timestamp
	message, err := c.Encode()
	if err != nil {
		return nil, refuse(c.Kind, err)
	}
	return message, nil
}

// refuse makes the public error of a message that could not be written.
func refuse(kind string, err error) error {
	var absent wire.Absent
	var at *encode.Error
	switch {
	case errors.Is(err, wire.ErrNobody):
		return &MissingFieldError{Call: kind, Field: "anonymousId or userId"}
	case errors.As(err, &absent):
		return &MissingFieldError{Call: kind, Field: string(absent)}
	case errors.Is(err, wire.ErrLongID):
		return &TooLargeError{Call: kind, What: "messageId", Limit: wire.MaxIDCharacters, Unit: "characters"}
	case errors.Is(err, encode.ErrTooLarge):
		return &TooLargeError{Call: kind, What: "message", Limit: wire.MaxBytes, Unit: "bytes"}
	case errors.As(err, &at):
		return &EncodeError{Call: kind, Path: at.Path, Err: at.Err}
	}
	return &EncodeError{Call: kind, Err: err}
}

func (m Identify) message() (*queue.Message, error) {
	return encoded(wire.Call{
		Kind: "identify", Context: m.Context, Integrations: m.Integrations, UserID: m.UserId, AnonymousID: m.AnonymousId, Time: m.Time,
		Maps: "traits", Own: m.Traits,
	}, m.with(m.MessageId, m.Timestamp, time.Time{}))
}

func (m Track) message() (*queue.Message, error) {
	return encoded(wire.Call{
		Kind: "track", Context: m.Context, Integrations: m.Integrations, UserID: m.UserId, AnonymousID: m.AnonymousId, Time: m.Time,
		Maps: "properties", Own: m.Properties, Texts: [2]wire.Text{{Name: "event", Value: m.Event, Required: true}},
	}, m.with(m.MessageId, m.Timestamp, time.Time{}))
}

func (m Page) message() (*queue.Message, error) {
	return encoded(wire.Call{
		Kind: "page", Context: m.Context, Integrations: m.Integrations, UserID: m.UserId, AnonymousID: m.AnonymousId, Time: m.Time,
		Maps: "properties", Own: m.Properties, More: m.Traits, Texts: [2]wire.Text{{Name: "category", Value: m.Category}, {Name: "name", Value: m.Name}},
	}, m.with(m.MessageId, m.Timestamp, time.Time{}))
}

func (m Screen) message() (*queue.Message, error) {
	return encoded(wire.Call{
		Kind: "screen", Context: m.Context, Integrations: m.Integrations, UserID: m.UserId, AnonymousID: m.AnonymousId, Time: m.Time,
		Maps: "properties", Own: m.Properties, More: m.Traits, Texts: [2]wire.Text{{Name: "category", Value: m.Category}, {Name: "name", Value: m.Name}},
	}, m.with(m.MessageId, m.Timestamp, time.Time{}))
}

func (m Group) message() (*queue.Message, error) {
	return encoded(wire.Call{
		Kind: "group", Context: m.Context, Integrations: m.Integrations, UserID: m.UserId, AnonymousID: m.AnonymousId, Time: m.Time,
		Maps: "traits", Own: m.Traits, Texts: [2]wire.Text{{Name: "groupId", Value: m.GroupId, Required: true}},
	}, m.with(m.MessageId, m.Timestamp, time.Time{}))
}

func (m Alias) message() (*queue.Message, error) {
	if m.UserId == "" {
		return nil, &MissingFieldError{Call: "alias", Field: "userId"}
	}
	return encoded(wire.Call{
		Kind: "alias", Context: m.Context, Integrations: m.Integrations, UserID: m.UserId, Time: m.Time,
		Texts: [2]wire.Text{{Name: "previousId", Value: m.PreviousId, Required: true}},
	}, m.with(m.MessageId, m.Timestamp, time.Time{}))
}

// absent reports whether a call is nil, or a pointer that is.
func absent(c Call) bool {
	v := reflect.ValueOf(c)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
