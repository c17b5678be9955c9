package ingest

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// headersPerRecord is how many headers an event has on raw-events: source, type,
// message-id, integrations, origin.
const headersPerRecord = 5

// records returns what accept has accepted as records, in order, and their
// size in bytes. They alias nothing of the decoder. All of a request share
// three pieces of memory, of exactly their size: the client holds records until
// the brokers have answered, so a buffer to spare would be held as often.
func (d *decoder) records(req *request) (records []kgo.Record, bytes int) {
	p := &d.press
	text := append(make([]byte, 0, len(p.out)), p.out...)
	records = make([]kgo.Record, len(p.entries))
	headers := make([]kgo.RecordHeader, 0, headersPerRecord*len(p.entries))
	for i := range p.entries {
		e, from := &p.entries[i], len(headers)
		h := schemas.Headers{
			Source:       req.source,
			Type:         e.call,
			MessageID:    e.messageID,
			Integrations: text[e.integrations:e.end],
			Origin:       schemas.OriginAPI,
		}
		for key, value := range h.All() {
			headers = append(headers, kgo.RecordHeader{Key: key, Value: value})
			bytes += len(key) + len(value)
		}
		records[i] = kgo.Record{
			Topic:   schemas.TopicRawEvents,
			Key:     text[e.key:e.integrations:e.integrations],
			Value:   text[e.value:e.key:e.key],
			Headers: headers[from:len(headers):len(headers)],
		}
		bytes += e.integrations - e.value
	}
	return records, bytes
}
