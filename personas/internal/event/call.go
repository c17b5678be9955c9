package event

import (
	"errors"
	"time"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// Call is one record of raw-events. Its slices are views of the record's value and hold
// as long as that does.
type Call struct {
	Type        schemas.Type
	Name        string // `event` of a track call, `name` of a page or screen
	UserID      string // empty: none, or one that stands for nobody (schemas.BlockedIDs)
	AnonymousID string // the same
	PreviousID  string // of an alias; the same
	Source      string // id; empty: unknown
	MessageID   string
	At          time.Time // when it happened: the earliest of its time stamp, its receipt and Received; whole milliseconds
	Received    time.Time
	// Offset is the place of the record in its partition. Of two values with the same
	// At the one with the higher offset is the newer. The caller sets it.
	Offset int64
	// Own says that personas has made the call, or that it is no call of a source: it
	// never counts.
	Own bool
	// Future says that the time stamp was later than the receipt.
	Future bool

	// The members of the same names as stable JSON objects, nil when absent.
	Properties, Traits, Context []byte

	// Nobody are the ids that stand for nobody, nil: the usual ones. Parse leaves it as
	// it is.
	Nobody *schemas.BlockedIDs
}

// ErrNoObject says that the value of a record is not a JSON object.
var ErrNoObject = errors.New("the value is not a JSON object")

// Parse makes dst the call that a record of raw-events holds. Received is when the
// record was taken in: no event happens later. What the headers say goes before the
// value; h may be nil. Nobody and Offset stay as they are.
func Parse(dst *Call, value []byte, h *schemas.Headers, received time.Time) error {
	received = received.Truncate(time.Millisecond)
	*dst = Call{Offset: dst.Offset, Nobody: dst.Nobody, Received: received, At: received}
	if stablejson.KindOf(value) != stablejson.KindObject {
		return ErrNoObject
	}
	if h != nil {
		dst.Type, dst.Source, dst.MessageID = h.Type, h.Source, h.MessageID
		dst.Own = h.Origin == schemas.OriginPersonas || h.Origin == schemas.OriginDeletion
	}
	var happened, taken stamp
	members := MembersOf(value)
	for {
		key, value, ok := members.Next()
		if !ok {
			dst.date(happened, taken)
			return nil
		}
		switch string(key) {
		case "timestamp":
			happened = stampOf(value)
		case "receivedAt":
			taken = stampOf(value)
		default:
			dst.take(key, value)
		}
	}
}

// take takes in one member of the call.
func (c *Call) take(key, value []byte) {
	switch string(key) {
	case "type":
		if c.Type == "" {
			text, _ := stablejson.Text(value)
			c.Type, _ = schemas.ParseType(text)
		}
	case "messageId":
		if c.MessageID == "" {
			c.MessageID, _ = stablejson.Text(value)
		}
	case "event":
		if c.Type == schemas.TypeTrack || c.Type == "" {
			c.Name, _ = stablejson.Text(value)
		}
	case "name":
		if c.Type != schemas.TypeTrack {
			c.Name, _ = stablejson.Text(value)
		}
	case "properties":
		c.Properties = object(value)
	case "traits":
		c.Traits = object(value)
	case "context":
		c.Context = object(value)
	default:
		c.takeID(key, value)
	}
}

// takeID is take for the ids of users.
func (c *Call) takeID(key, value []byte) {
	switch string(key) {
	case "userId":
		c.UserID = c.somebody(value)
	case "anonymousId":
		c.AnonymousID = c.somebody(value)
	case "previousId":
		c.PreviousID = c.somebody(value)
	}
}

// somebody returns the text of an id, empty for one that stands for nobody.
func (c *Call) somebody(value []byte) string {
	text, ok := stablejson.Text(value)
	if !ok || c.Nobody.Blocks([]byte(text)) {
		return ""
	}
	return text
}

// stamp is an instant that a call may bear, in Unix milliseconds.
type stamp struct {
	millis int64
	ok     bool
}

// stampOf reads a stamp. One that can't be read counts as absent.
func stampOf(value []byte) (s stamp) {
	if stablejson.KindOf(value) == stablejson.KindString && len(value) >= len(`""`) {
		s.millis, s.ok = instant(value[1 : len(value)-1])
	}
	return s
}

// date says when the call happened. What bounds that is when ingest took it, and not only
// when the record was written: that is later for an import, by years for what an archive
// gives back.
func (c *Call) date(happened, taken stamp) {
	latest := c.Received.UnixMilli()
	if taken.ok {
		latest = min(latest, taken.millis)
	}
	c.Future = happened.ok && happened.millis > latest
	if happened.ok && !c.Future {
		latest = happened.millis
	}
	c.At = time.UnixMilli(latest).UTC()
}

func object(value []byte) []byte {
	if stablejson.KindOf(value) != stablejson.KindObject {
		return nil
	}
	return value
}
