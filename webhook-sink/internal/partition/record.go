package partition

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Overhead is what a waiting record costs beside its bytes: the record, its
// headers and the job.
const Overhead = 768

// Size is what a record takes in memory while it waits, in bytes.
func Size(r *kgo.Record) int {
	size := len(r.Key) + len(r.Value) + Overhead
	for i := range r.Headers {
		size += len(r.Headers[i].Value)
	}
	return size
}

// Copy makes to a copy of a fetched record, and returns the memory that its bytes are in:
// room, if they fit and do not waste most of it, else fresh. The headers are in those that
// to had. As it was fetched the record is a view of the whole response, megabytes with the
// events of many destinations, and a single one that waits would keep all of that in memory.
func Copy(to, r *kgo.Record, room []byte) []byte {
	need := Size(r) - Overhead
	if cap(room) < need || cap(room) > 2*need {
		room = make([]byte, 0, need)
	}
	room = room[:0]
	own := func(b []byte) []byte {
		if b == nil {
			return nil // a tombstone is not an empty value
		}
		start := len(room)
		room = append(room, b...)
		return room[start:len(room):len(room)]
	}
	headers := to.Headers[:0]
	*to = *r
	to.Key, to.Value = own(r.Key), own(r.Value)
	for _, h := range r.Headers {
		headers = append(headers, kgo.RecordHeader{Key: h.Key, Value: own(h.Value)})
	}
	to.Headers = headers
	return room
}

// WrittenAt is when a retry record was written, by the clock that has set its due time.
// A broker that puts its own time on records has another: against the clock of a sink
// that is ahead of it, a retry would have been looked at before it was written, and
// would go from topic to topic without a pause until it is due. Fetched as soon as it
// is written, as a rule, it counts from then.
func WrittenAt(r *kgo.Record, now time.Time) time.Time {
	const byBroker = 1
	if r.Attrs.TimestampType() == byBroker {
		return now
	}
	return r.Timestamp
}
