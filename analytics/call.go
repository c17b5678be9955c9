package analytics

import (
	"cmp"

	"github.com/anabranch/anabranch/analytics/internal/queue"
)

// Call is what [Client.Enqueue] takes: [Identify], [Track], [Page], [Screen],
// [Group], [Alias], a pointer to one of them, or an [Unsent].
type Call interface {
	// message checks the call and encodes it.
	message() (*queue.Message, error)
}

// call is the members of any kind of message, under the names they are sent with.
type call struct {
	kind                  string
	context, integrations map[string]any
	anonymousID, userID   string
	messageID, timestamp  string
	common                Message // version 2's place for these two, and sentAt
	maps                  string  // "traits" or "properties"
	own, more             map[string]any
	texts                 [2]member // what this kind alone has
}

type member struct{ name, value string }

// user is whose order the message keeps; it is also the key by which the service
// keeps it.
func (c *call) user() string { return cmp.Or(c.userID, c.anonymousID) }

func (m Identify) message() (*queue.Message, error) {
	c := call{
		kind: "identify", context: m.Context, integrations: m.Integrations, maps: "traits", own: m.Traits,
		anonymousID: m.AnonymousId, userID: m.UserId, messageID: m.MessageId, timestamp: m.Timestamp, common: m.Message,
	}
	return c.encode()
}

func (m Track) message() (*queue.Message, error) {
	if m.Event == "" {
		return nil, &MissingFieldError{Call: "track", Field: "event"}
	}
	c := call{
		kind: "track", context: m.Context, integrations: m.Integrations, maps: "properties", own: m.Properties,
		anonymousID: m.AnonymousId, userID: m.UserId, messageID: m.MessageId, timestamp: m.Timestamp, common: m.Message,
		texts: [2]member{{"event", m.Event}},
	}
	return c.encode()
}

func (m Page) message() (*queue.Message, error) {
	c := call{
		kind: "page", context: m.Context, integrations: m.Integrations, maps: "properties", own: m.Properties, more: m.Traits,
		anonymousID: m.AnonymousId, userID: m.UserId, messageID: m.MessageId, timestamp: m.Timestamp, common: m.Message,
		texts: [2]member{{"category", m.Category}, {"name", m.Name}},
	}
	return c.encode()
}

func (m Screen) message() (*queue.Message, error) {
	c := call{
		kind: "screen", context: m.Context, integrations: m.Integrations, maps: "properties", own: m.Properties, more: m.Traits,
		anonymousID: m.AnonymousId, userID: m.UserId, messageID: m.MessageId, timestamp: m.Timestamp, common: m.Message,
		texts: [2]member{{"category", m.Category}, {"name", m.Name}},
	}
	return c.encode()
}

func (m Group) message() (*queue.Message, error) {
	if m.GroupId == "" {
		return nil, &MissingFieldError{Call: "group", Field: "groupId"}
	}
	c := call{
		kind: "group", context: m.Context, integrations: m.Integrations, maps: "traits", own: m.Traits,
		anonymousID: m.AnonymousId, userID: m.UserId, messageID: m.MessageId, timestamp: m.Timestamp, common: m.Message,
		texts: [2]member{{"groupId", m.GroupId}},
	}
	return c.encode()
}

func (m Alias) message() (*queue.Message, error) {
	if m.UserId == "" {
		return nil, &MissingFieldError{Call: "alias", Field: "userId"}
	}
	if m.PreviousId == "" {
		return nil, &MissingFieldError{Call: "alias", Field: "previousId"}
	}
	c := call{
		kind: "alias", context: m.Context, integrations: m.Integrations,
		userID: m.UserId, messageID: m.MessageId, timestamp: m.Timestamp, common: m.Message,
		texts: [2]member{{"previousId", m.PreviousId}},
	}
	return c.encode()
}

// absent reports whether a call is nil, or a pointer that is.
func absent(c Call) bool {
	switch c := c.(type) {
	case nil:
		return true
	case *Identify:
		return c == nil
	case *Track:
		return c == nil
	case *Page:
		return c == nil
	case *Screen:
		return c == nil
	case *Group:
		return c == nil
	case *Alias:
		return c == nil
	case *Unsent:
		return c == nil
	}
	return false
}
