package store

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// headersPerRecord is how many headers an event has on raw-events: source,
	// type, message-id, integrations, origin.
	headersPerRecord = 5
	// headersPerBlocked is how many it has on dead-letters: these, and reason,
	// detail, failed-at.
	headersPerBlocked = headersPerRecord + 3
)

// Batch is the calls of one request as records, in order: those of raw-events
// before those of dead-letters.
type Batch struct {
	records []kgo.Record
	bytes   int // of their keys, values and headers
	further func(decode.Event, *schemas.Headers)
}

// NewBatch makes records of raw-events of events that came in through the source
// with the given id. They alias nothing of the events' memory.
func NewBatch(source string, events decode.Events) Batch {
	return NewImport(source, events, func(decode.Event, *schemas.Headers) {})
}

// NewImport is NewBatch for calls out of files: further gives each of them, and of those
// that are blocked, the headers that no other call has.
func NewImport(source string, events decode.Events, further func(decode.Event, *schemas.Headers)) Batch {
	b := Batch{records: make([]kgo.Record, 0, events.Len()), further: further}
	b.add(schemas.TopicRawEvents, events, headersPerRecord, func(_ int, e decode.Event) schemas.Headers {
		return headersOf(source, e)
	})
	return b
}

// AddBlocked adds records of dead-letters: calls that came in through the source
// at a time and that its tracking plan does not let through. They alias nothing of
// the calls' memory. They have no destination and no place where they stood
// before.
func (b *Batch) AddBlocked(source string, blocked decode.Blocked, at time.Time) {
	b.add(schemas.TopicDeadLetters, blocked.Events, headersPerBlocked, func(i int, e decode.Event) schemas.Headers {
		h := headersOf(source, e)
		h.Reason = schemas.ReasonPlanViolation
		h.Detail = blocked.Violation(i).Message
		h.FailedAt = at
		return h
	})
}

// Len returns how many records there are.
func (b *Batch) Len() int { return len(b.records) }

// Size returns how many bytes their keys, values and headers have.
func (b *Batch) Size() int { return b.bytes }

// AppendTo appends the records, for those who write them in a transaction of their own.
func (b *Batch) AppendTo(records []*kgo.Record) []*kgo.Record {
	for i := range b.records {
		records = append(records, &b.records[i])
	}
	return records
}

// Trace gives each record the trace context that begin returns of it, unless that
// is empty.
func (b *Batch) Trace(begin func(topic string, h *schemas.Headers) (traceParent string)) {
	for i := range b.records {
		r := &b.records[i]
		h, err := kafka.HeadersOf(r)
		if err != nil {
			continue // not of those that were written above
		}
		if h.TraceParent = begin(r.Topic, &h); h.TraceParent != "" {
			kafka.SetHeaders(r, &h)
			added := r.Headers[len(r.Headers)-1]
			b.bytes += len(added.Key) + len(added.Value)
		}
	}
}

func headersOf(source string, e decode.Event) schemas.Headers {
	return schemas.Headers{
		Source:       source,
		Type:         e.Type,
		MessageID:    e.MessageID,
		Integrations: e.Integrations,
		Origin:       schemas.OriginAPI,
	}
}

// add makes a record of a topic of each event. All of them share two pieces of
// memory, of exactly their size: the client holds records until the brokers have
// answered, so a buffer to spare would be held as often.
func (b *Batch) add(topic string, events decode.Events, headersEach int, headersOf func(int, decode.Event) schemas.Headers) {
	text := make([]byte, 0, events.Size())
	keep := func(part []byte) []byte {
		from := len(text)
		text = append(text, part...)
		return text[from:len(text):len(text)]
	}
	headers := make([]kgo.RecordHeader, 0, headersEach*events.Len())
	for i := range events.Len() {
		e, from := events.At(i), len(headers)
		h := headersOf(i, e)
		b.further(e, &h)
		h.Integrations = keep(h.Integrations)
		for key, value := range h.All() {
			headers = append(headers, kgo.RecordHeader{Key: key, Value: value})
			b.bytes += len(key) + len(value)
		}
		b.records = append(b.records, kgo.Record{
			Topic:   topic,
			Key:     keep(e.Key),
			Value:   keep(e.Value),
			Headers: headers[from:len(headers):len(headers)],
		})
		b.bytes += len(e.Key) + len(e.Value)
	}
}
