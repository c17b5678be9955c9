package store

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/schemas"
)

// headersPerRecord is how many headers an event has on raw-events: source, type,
// message-id, integrations, origin.
const headersPerRecord = 5

// Batch is the events of one request as records of raw-events, in order.
type Batch struct {
	records []kgo.Record
	bytes   int // of their keys, values and headers
}

// NewBatch makes records of events that came in through the source with the
// given id. They alias nothing of the events' memory. All of a batch share three
// pieces of memory, of exactly their size: the client holds records until the
// brokers have answered, so a buffer to spare would be held as often.
func NewBatch(source string, events decode.Events) Batch {
	text := make([]byte, 0, events.Size())
	keep := func(part []byte) []byte {
		from := len(text)
		text = append(text, part...)
		return text[from:len(text):len(text)]
	}
	b := Batch{records: make([]kgo.Record, events.Len())}
	headers := make([]kgo.RecordHeader, 0, headersPerRecord*events.Len())
	for i := range b.records {
		e, from := events.At(i), len(headers)
		h := schemas.Headers{
			Source:       source,
			Type:         e.Type,
			MessageID:    e.MessageID,
			Integrations: keep(e.Integrations),
			Origin:       schemas.OriginAPI,
		}
		for key, value := range h.All() {
			headers = append(headers, kgo.RecordHeader{Key: key, Value: value})
			b.bytes += len(key) + len(value)
		}
		b.records[i] = kgo.Record{
			Topic:   schemas.TopicRawEvents,
			Key:     keep(e.Key),
			Value:   keep(e.Value),
			Headers: headers[from:len(headers):len(headers)],
		}
		b.bytes += len(e.Key) + len(e.Value)
	}
	return b
}
