package dispatch

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// Job is one record from when it was fetched until it is finished: delivered, or
// its retry record or dead letter acknowledged by the broker. Its fields are the
// dispatcher's; a worker reads them, and has the headers of a first attempt read.
type Job struct {
	Record *kgo.Record
	// Headers are what the record's headers say, and Err why they can't be read.
	// They are read when a retry is fetched, and when a first attempt is worked on.
	Headers schemas.Headers
	Err     error

	record kgo.Record
	size   int
	part   *partition
	// reading is the partition's at the time: should the log be written anew from an
	// earlier offset, another one begins, and this job no longer counts.
	reading offsets.Reading
	queue   *queue
	key     string // lane of a first attempt
	// aside is set of an event whose key was set aside when it was read: its end is
	// noted there, and not in the partition's tracker.
	aside *asideKey

	slot     bool      // it holds a slot of its destination; a retry without one is only put back
	began    time.Time // when it got that slot
	turn     time.Time // when a retry is looked at
	reserved time.Time // the slot it is put back for, zero for none
}

// overhead is what a waiting record costs beside its bytes: the record, its
// headers and the job.
const overhead = 768

// NewJob returns the job of a fetched record, of which it takes a copy. As it was
// fetched the record is a view of the whole response, megabytes with the events of
// many destinations, and a single one that waits would keep all of that in memory.
func NewJob(r *kgo.Record) *Job {
	size := sizeOf(r)
	room := make([]byte, 0, size-overhead)
	own := func(b []byte) []byte {
		if b == nil {
			return nil // a tombstone is not an empty value
		}
		start := len(room)
		room = append(room, b...)
		return room[start:len(room):len(room)]
	}
	j := &Job{record: *r, size: size}
	j.Record = &j.record
	j.record.Key, j.record.Value = own(r.Key), own(r.Value)
	j.record.Headers = slices.Clone(r.Headers)
	for i := range j.record.Headers {
		j.record.Headers[i].Value = own(r.Headers[i].Value)
	}
	return j
}

// sizeOf is what a record takes in memory while it waits.
func sizeOf(r *kgo.Record) int {
	size := len(r.Key) + len(r.Value) + overhead
	for i := range r.Headers {
		size += len(r.Headers[i].Value)
	}
	return size
}

// Read reads the headers. The destination is the one that the record's topic
// names, if it names one.
func (j *Job) Read() {
	j.Headers, j.Err = kafka.HeadersOf(j.Record)
	if id, ok := schemas.DestinationOf(j.Record.Topic); ok {
		j.Headers.Destination = id
	}
}

// IsRetry reports whether the job came from a retry topic.
func (j *Job) IsRetry() bool { return j.part.retry }

// Case is what there is to decide about the job.
func (j *Job) Case() schedule.Case {
	return schedule.Case{Headers: j.Headers, Err: j.Err, Slot: j.slot, Reserved: j.reserved}
}
