package kafka

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// DeadLetter is the record that keeps r in dead-letters: same key and value,
// and in the headers why (h.Reason, h.Detail, h.Destination, set by the
// caller), when, and where it came from. h is what could be read of r's
// headers; the zero value where nothing could.
//
// Of a record of a later release it keeps every header that it does not write
// itself, as they are, the version among them: that release finds in the dead
// letter all that the record said.
func DeadLetter(r *kgo.Record, h schemas.Headers, now time.Time) *kgo.Record {
	h.From = schemas.Position{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}
	h.FailedAt = now
	dead := &kgo.Record{Topic: schemas.TopicDeadLetters, Key: r.Key, Value: r.Value}
	SetHeaders(dead, &h)
	if h.Version > schemas.RecordVersion {
		dead.Headers = append(others(r.Headers, dead.Headers), dead.Headers...)
	}
	return dead
}

// others returns the headers whose keys are not among written.
func others(all, written []kgo.RecordHeader) []kgo.RecordHeader {
	return slices.DeleteFunc(slices.Clone(all), func(h kgo.RecordHeader) bool {
		return slices.ContainsFunc(written, func(w kgo.RecordHeader) bool { return w.Key == h.Key })
	})
}

// ReasonOf is the reason of the dead letter of a record that [HeadersOf] could not
// read with err.
func ReasonOf(err error) schemas.Reason {
	if schemas.IsLaterVersion(err) {
		return schemas.ReasonVersionUnknown
	}
	return schemas.ReasonRecordInvalid
}

// DeadLetterReference is DeadLetter for a record too large to be written a
// second time: without the value, the integrations map and the headers of a later
// release, which together are all of a record that is not bounded. Whoever reads it finds the
// rest at From for as long as that topic keeps it.
func DeadLetterReference(r *kgo.Record, h schemas.Headers, now time.Time) *kgo.Record {
	h.Integrations = nil
	h.Reference = true
	bare := *r
	bare.Value, bare.Headers = nil, nil
	return DeadLetter(&bare, h, now)
}
