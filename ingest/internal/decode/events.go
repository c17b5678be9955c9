package decode

import (
	"github.com/anabranch/anabranch/ingest/internal/timestamp"
	"github.com/anabranch/anabranch/schemas"
)

// Events are the accepted calls of one request, in order. They alias the memory
// of the Decoder that they come from and end with its next request.
type Events struct {
	text    []byte
	entries []entry
}

// Event is one accepted call in the form that is stored. Its slices must not be
// written to.
type Event struct {
	Type      schemas.Type
	MessageID string // at most schemas.MaxMessageIDChars characters

	Value        []byte // a stable JSON object
	Key          []byte // who did it: the text of userId, else of anonymousId, else messageId; never empty
	Integrations []byte // a stable JSON object; empty when there is none, or nothing in it

	Happened timestamp.Stamp // of an imported call, by its own account
}

// entry is one event, as offsets into the text, where its value, its key and
// its integrations stand in this order.
type entry struct {
	value, key, integrations, end int

	call      schemas.Type
	messageID string
	happened  timestamp.Stamp
}

// Len returns how many there are.
func (e Events) Len() int { return len(e.entries) }

// Size returns how many bytes their values, keys and integrations have.
func (e Events) Size() int { return len(e.text) }

// At returns one of them, from 0.
func (e Events) At(i int) Event {
	at := &e.entries[i]
	return Event{
		Type:         at.call,
		MessageID:    at.messageID,
		Value:        e.text[at.value:at.key],
		Key:          e.text[at.key:at.integrations],
		Integrations: e.text[at.integrations:at.end],
		Happened:     at.happened,
	}
}

// emptied returns no events with the memory of e.
func (e Events) emptied() Events { return Events{e.text[:0], e.entries[:0]} }

// Blocked is the calls of one request that the review has blocked, as events in
// the form in which they would have been stored.
type Blocked struct {
	Events
	violations []schemas.Violation
}

// Violation returns why the event At(i) is blocked.
func (b Blocked) Violation(i int) schemas.Violation { return b.violations[i] }

func (b Blocked) emptied() Blocked { return Blocked{b.Events.emptied(), b.violations[:0]} }
