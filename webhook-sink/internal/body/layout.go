package body

import (
	"strconv"
	"unicode/utf8"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// property is one that bodies have: its key, where its value comes from, and which
// values will do.
type property struct {
	key  string
	from field
	rule rule
}

type rule uint8

const (
	optionalID     rule = iota // a string; absent when it is empty
	otherID                    // the same, but there must be it or a userId
	required                   // a string that is not empty
	bounded                    // the same, of at most schemas.MaxMessageIDChars characters
	optionalText               // a string, where present
	optionalObject             // an object, where present
	object                     // an object, {} where absent
	traits                     // an object, where absent that of the context, else {}
	instant                    // a time stamp as schemas.TimeLayout says
	callType                   // the type, which chose the layout
	one                        // the number 1, whatever the event has
)

var (
	version   = property{"version", fieldNone, one}
	kind      = property{"type", fieldType, callType}
	timestamp = property{"timestamp", fieldTimestamp, instant}
	context   = property{"context", fieldContext, object}

	userID      = property{"userId", fieldUserID, optionalID}
	anonymousID = property{"anonymousId", fieldAnonymousID, otherID}
	messageID   = property{"messageId", fieldMessageID, bounded}
	groupID     = property{"groupId", fieldGroupID, required}
	deletedID   = property{"userId", fieldUserID, required}
	// Both keys of an alias hold a space (spec.md, Webhook delivery bodies).
	previousID = property{"Previous ID", fieldPreviousID, required}
	newID      = property{"User ID", fieldUserID, required}

	eventName   = property{"event", fieldEvent, required}
	name        = property{"name", fieldName, optionalText}
	category    = property{"category", fieldCategory, optionalText}
	properties  = property{"properties", fieldProperties, object}
	screenProps = property{"properties", fieldProperties, optionalObject}
	userTraits  = property{"traits", fieldTraits, traits}
	groupTraits = property{"traits", fieldTraits, object}
)

// layouts are the bodies: the members of spec.md's table in its order, then
// context, messageId, anonymousId, then what a page or screen has besides. All
// keys are fixed and none is an array index, so this order is stable JSON's.
var layouts = map[schemas.Type][]property{
	schemas.TypePage:     {version, kind, userID, properties, timestamp, context, messageID, anonymousID, name, category},
	schemas.TypeScreen:   {version, kind, userID, name, timestamp, context, messageID, anonymousID, screenProps, category},
	schemas.TypeIdentify: {version, kind, userID, userTraits, timestamp, context, messageID, anonymousID},
	schemas.TypeTrack:    {version, kind, userID, eventName, properties, timestamp, context, messageID, anonymousID},
	schemas.TypeAlias:    {version, kind, previousID, newID, timestamp, context, messageID, anonymousID},
	schemas.TypeGroup:    {version, kind, groupID, userID, groupTraits, timestamp, context, messageID, anonymousID},
	schemas.TypeDelete:   {kind, deletedID, timestamp, messageID},
}

// body appends the body of the event that text is.
func (e *event) body(dst, text []byte) ([]byte, error) {
	if err := e.read(text); err != nil {
		return nil, err
	}
	of, ok := schemas.ParseType(e.text(fieldType))
	if !ok {
		return nil, errorAt(kind.key, "one of the types of calls")
	}
	dst = append(dst, '{')
	for _, m := range layouts[of] {
		var err error
		if dst, err = m.append(dst, e); err != nil {
			return nil, err
		}
	}
	dst[len(dst)-1] = '}' // over the last comma: every body has a type
	return dst, nil
}

// append appends the member as e has it, with a comma behind, or nothing.
func (m *property) append(dst []byte, e *event) ([]byte, error) {
	value, err := m.value(e)
	if err != nil || value == nil {
		return dst, err
	}
	dst = append(dst, '"')
	dst = append(dst, m.key...)
	dst = append(dst, `":`...)
	dst = append(dst, value...)
	return append(dst, ','), nil
}

// value returns the value that the rule makes of e; nil for none.
func (m *property) value(e *event) ([]byte, error) {
	value := e.value(m.from)
	switch m.rule {
	case otherID:
		return m.otherID(value, e)
	case optionalID:
		return m.id(value)
	case required:
		return m.required(value)
	case bounded:
		return m.bounded(value)
	case optionalText:
		return m.text(value)
	case instant:
		return m.instant(value)
	case callType:
		return value, nil
	case one:
		return e.one(), nil
	case traits:
		if value == nil {
			var err error
			if value, err = e.contextTraits(); err != nil {
				return nil, err
			}
		}
	case object, optionalObject:
	}
	if value == nil && m.rule != optionalObject {
		return e.emptyObject(), nil
	}
	return m.object(value)
}

func (m *property) otherID(value []byte, e *event) ([]byte, error) {
	id, err := m.id(value)
	if id == nil && err == nil && e.text(fieldUserID) == "" {
		return nil, errorAt(m.key, "an id here or in userId")
	}
	return id, err
}

func (m *property) id(value []byte) ([]byte, error) {
	if string(value) == `""` {
		return nil, nil
	}
	return m.text(value)
}

func (m *property) required(value []byte) ([]byte, error) {
	text, err := m.id(value)
	if text == nil && err == nil {
		return nil, errorAt(m.key, "a string that is not empty")
	}
	return text, err
}

func (m *property) bounded(value []byte) ([]byte, error) {
	text, err := m.required(value)
	if err != nil || len(text) <= schemas.MaxMessageIDChars {
		return text, err
	}
	if id, _ := stablejson.Text(text); utf8.RuneCountInString(id) > schemas.MaxMessageIDChars {
		return nil, errorAt(m.key, "at most "+strconv.Itoa(schemas.MaxMessageIDChars)+" characters")
	}
	return text, nil
}

func (m *property) text(value []byte) ([]byte, error) {
	if value != nil && stablejson.KindOf(value) != stablejson.KindString {
		return nil, errorAt(m.key, "a string")
	}
	return value, nil
}

func (m *property) object(value []byte) ([]byte, error) {
	if value != nil && stablejson.KindOf(value) != stablejson.KindObject {
		return nil, errorAt(m.key, "an object")
	}
	return value, nil
}

// instant takes the one form that ingest writes.
func (m *property) instant(value []byte) ([]byte, error) {
	if !isInstant(value) {
		return nil, errorAt(m.key, "a UTC time with milliseconds")
	}
	return value, nil
}
