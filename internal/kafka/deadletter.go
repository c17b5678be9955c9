package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// DeadLetter is the record that keeps r in dead-letters: same key and value,
// and in the headers why (h.Reason, h.Detail, h.Destination, set by the
// caller), when, and where it came from. h is what could be read of r's
// headers; the zero value where nothing could.
func DeadLetter(r *kgo.Record, h schemas.Headers, now time.Time) *kgo.Record {
	h.From = schemas.Position{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}
	h.FailedAt = now
	dead := &kgo.Record{Topic: schemas.TopicDeadLetters, Key: r.Key, Value: r.Value}
	SetHeaders(dead, &h)
	return dead
}

// DeadLetterReference is DeadLetter for a record too large to be written a
// second time: without the value and without the integrations map, which
// together are all of a record that is not bounded. Whoever reads it finds the
// rest at From for as long as that topic keeps it.
func DeadLetterReference(r *kgo.Record, h schemas.Headers, now time.Time) *kgo.Record {
	h.Integrations = nil
	h.Reference = true
	dead := DeadLetter(r, h, now)
	dead.Value = nil
	return dead
}
