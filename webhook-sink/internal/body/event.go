package body

import (
	"errors"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// field is a member of an event that some body needs.
type field uint8

const (
	fieldType field = iota
	fieldUserID
	fieldAnonymousID
	fieldGroupID
	fieldPreviousID
	fieldEvent
	fieldName
	fieldCategory
	fieldProperties
	fieldTraits
	fieldContext
	fieldTimestamp
	fieldMessageID
	fieldContextTraits // "traits" inside of "context"; read on demand
	fieldNone          // any other; never filled
	fields
)

func fieldOf(key []byte) field {
	switch string(key) {
	case "type":
		return fieldType
	case "userId":
		return fieldUserID
	case "anonymousId":
		return fieldAnonymousID
	case "groupId":
		return fieldGroupID
	case "previousId":
		return fieldPreviousID
	case "event":
		return fieldEvent
	default:
		return otherField(key)
	}
}

// otherField is the rest of fieldOf.
func otherField(key []byte) field {
	switch string(key) {
	case "name":
		return fieldName
	case "category":
		return fieldCategory
	case "properties":
		return fieldProperties
	case "traits":
		return fieldTraits
	case "context":
		return fieldContext
	case "timestamp":
		return fieldTimestamp
	case "messageId":
		return fieldMessageID
	default:
		return fieldNone
	}
}

// event is an event taken apart: the stable values of its known members. It
// keeps its memory from one event to the next.
type event struct {
	reader stablejson.Reader
	buf    []byte // constants, then the values one behind the other
	values [fields]span

	// Method values made once; each use of one allocates it anew.
	visitMember, visitContext func(key []byte) error
}

// span is where a value lies in buf; the zero span is an absent one.
type span struct{ start, end int }

// constants are the values that the event need not have.
const constants = `{}1`

func (e *event) emptyObject() []byte { return e.buf[:2] }
func (e *event) one() []byte         { return e.buf[2:3] }

func newEvent() *event {
	e := &event{}
	e.visitMember, e.visitContext = e.property, e.contextMember
	return e
}

// read takes text apart. A plain loop over the members does here, where
// stablejson.Object would sort and index what is then looked up once.
func (e *event) read(text []byte) error {
	e.buf, e.values = append(e.buf[:0], constants...), [fields]span{}
	e.reader.Reset(text)
	if err := e.reader.Members(e.visitMember); err != nil {
		return err
	}
	return e.reader.End()
}

func (e *event) property(key []byte) error {
	return e.keep(fieldOf(key))
}

func (e *event) contextMember(key []byte) error {
	if string(key) == "traits" {
		return e.keep(fieldContextTraits)
	}
	return e.reader.Skip()
}

// keep reads the next value into a field. Of duplicates the last one counts, as
// for JSON.parse.
func (e *event) keep(f field) error {
	if f == fieldNone {
		return e.reader.Skip()
	}
	start := len(e.buf)
	buf, err := e.reader.Append(e.buf)
	if err != nil {
		return err
	}
	e.buf, e.values[f] = buf, span{start: start, end: len(buf)}
	return nil
}

// value returns the stable value of a field, nil when it is absent or null: SDKs
// send null for what they don't have.
func (e *event) value(f field) []byte {
	at := e.values[f]
	value := e.buf[at.start:at.end]
	if stablejson.KindOf(value) == stablejson.KindNull || len(value) == 0 {
		return nil
	}
	return value
}

// text returns the string in a field, "" when there is none.
func (e *event) text(f field) string {
	text, _ := stablejson.Text(e.value(f))
	return text
}

// contextTraits returns the object under "traits" in the event's context; nil
// when there is none.
func (e *event) contextTraits() ([]byte, error) {
	context := e.value(fieldContext)
	if stablejson.KindOf(context) != stablejson.KindObject {
		return nil, nil
	}
	// The reader's text may lie in buf: values that are appended to it meanwhile
	// go behind, or to another array with the old one left as it is.
	e.reader.Reset(context)
	if err := e.reader.Members(e.visitContext); err != nil {
		return nil, err
	}
	if traits := e.value(fieldContextTraits); stablejson.KindOf(traits) == stablejson.KindObject {
		return traits, nil
	}
	return nil, nil
}

// errorAt says what a member was expected to be, not what it is.
func errorAt(key, expected string) error {
	return errors.New(key + ": expected " + expected)
}
