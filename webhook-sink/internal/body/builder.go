// Package body turns events into the bodies of webhook deliveries.
//
// An event is a value of the topic raw-events: one call as ingest wrote it. A
// body is what a customer's receiver gets, shaped by the event's type as spec.md,
// Webhook delivery bodies, lays down, and nothing of the event besides. The table
// in layout.go is that page; this file and event.go only carry it out.
//
// A body is stable JSON, so a receiver that parses and serialises it again
// computes the signature over the same bytes.
package body

import (
	"encoding/json"
	"fmt"
	"sync"
)

// Overhead is how many bytes a body may be longer than its event, but for an
// identify whose traits are those of its context: enough for one allocation.
const Overhead = 64

// Builder builds bodies. The zero value is ready for use, by many goroutines.
type Builder struct {
	pool sync.Pool // of *event
}

// MessageID reads the messageId of a body, empty where there is none. It is for the few that
// people are told of.
func MessageID(body []byte) string {
	var delivery struct {
		MessageID string `json:"messageId"`
	}
	_ = json.Unmarshal(body, &delivery) // of our own making; what says nothing has no id
	return delivery.MessageID
}

// Append appends the body of the delivery of an event to dst. It fails, with dst
// as it was, when the event is not one that ingest could have written: such a
// record will never be deliverable. The error names what is wrong and quotes
// nothing of the event.
func (b *Builder) Append(dst, text []byte) ([]byte, error) {
	e, _ := b.pool.Get().(*event)
	if e == nil {
		e = newEvent()
	}
	defer b.pool.Put(e)
	out, err := e.body(dst, text)
	if err != nil {
		return dst, fmt.Errorf("read event: %w", err)
	}
	return out, nil
}
