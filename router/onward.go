package router

import (
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
	added := schemas.Headers{Received: rec.Timestamp}
	return kafka.AddHeaders(rec.Headers, &added)
}
