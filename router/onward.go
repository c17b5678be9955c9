package router

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// onward returns the headers of what goes on to destinations: those of the event,
// and when ingest took it. The timestamp of its record says that as long as the
// record stands on raw-events; kept as the timestamp of the next record it would
// count against that topic's retention, which is shorter than a long outage.
//
// Headers are added here instead of being set anew: the router understands all of
// them, and the strings they hold need not be copied for each event.
func onward(rec *kgo.Record, h *schemas.Headers) []kgo.RecordHeader {
	if !h.Received.IsZero() {
		return rec.Headers
	}
	added := schemas.Headers{Received: takenAt(rec)}
	return kafka.AddHeaders(rec.Headers, &added)
}

// takenAt is when ingest took an event: the time of its record. Others can write to
// raw-events too, and a time that no header holds (none at all is -1, and some count
// microseconds) is no reason to bury their events at the destination.
func takenAt(rec *kgo.Record) time.Time {
	if year := rec.Timestamp.UTC().Year(); year < 1970 || year > 9999 {
		return time.Time{}
	}
	return rec.Timestamp
}
