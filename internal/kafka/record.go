package kafka

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// HeadersOf reads the record's headers. The error names the topic, partition
// and offset beside the header at fault: the record is poison and belongs into
// dead-letters.
func HeadersOf(r *kgo.Record) (schemas.Headers, error) {
	h, err := schemas.ParseHeaders(pairs(r.Headers))
	if err != nil {
		return h, fmt.Errorf("decode %s[%d]@%d: %w", r.Topic, r.Partition, r.Offset, err)
	}
	return h, nil
}

// SetHeaders replaces all headers of the record. They are never appended to:
// a record that goes through twenty retries is no larger than one that goes
// through a single one.
func SetHeaders(r *kgo.Record, h *schemas.Headers) {
	r.Headers = r.Headers[:0:0]
	for key, value := range h.All() {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: key, Value: value})
	}
}

// AddHeaders returns headers with those of h behind them, in memory of its own.
// h must hold no header that is already among them.
func AddHeaders(headers []kgo.RecordHeader, h *schemas.Headers) []kgo.RecordHeader {
	const some = 2 // as many as are ever added
	all := append(make([]kgo.RecordHeader, 0, len(headers)+some), headers...)
	for key, value := range h.All() {
		all = append(all, kgo.RecordHeader{Key: key, Value: value})
	}
	return all
}

// SetTraceParent replaces the record's trace context, in headers of its own.
func SetTraceParent(r *kgo.Record, traceParent string) {
	added := schemas.Headers{TraceParent: traceParent}
	for key := range added.All() {
		r.Headers = slices.DeleteFunc(slices.Clone(r.Headers), func(h kgo.RecordHeader) bool { return h.Key == key })
	}
	r.Headers = AddHeaders(r.Headers, &added)
}

func pairs(headers []kgo.RecordHeader) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := range headers {
			if !yield(headers[i].Key, headers[i].Value) {
				return
			}
		}
	}
}

// TakenAt is when ingest took an event: the time of its record. Others can write to
// raw-events too, and a time that no header holds (none at all is -1, and some count
// microseconds) is no reason to bury their events at the destination.
func TakenAt(r *kgo.Record) time.Time {
	if year := r.Timestamp.UTC().Year(); year < 1970 || year > 9999 {
		return time.Time{}
	}
	return r.Timestamp
}
