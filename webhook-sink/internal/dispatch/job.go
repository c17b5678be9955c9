package dispatch

import (
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
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
	room   []byte // of its bytes
	size   int
	part   *part
	// reading is the partition's at the time: should the log be written anew from an
	// earlier offset, another one begins, and this job no longer counts.
	reading offsets.Reading
	queue   *queues.Queue[*Job]
	key     string // lane of a first attempt
	// aside is set of an event whose key was set aside when it was read: its end is
	// noted there, and not in the partition's tracker.
	aside *partition.Key

	slot     bool      // it holds a slot of its destination; a retry without one is only put back
	aloft    bool      // a retry that waited for a slot, so it has left its partition's account
	began    time.Time // when it got that slot
	beside   bool      // others of a replay were in flight at its destination then
	turn     time.Time // when a retry is looked at
	reserved time.Time // the slot it is put back for, zero for none
}

// jobs are those that were put away, with their memory: jobs and the copies of records
// in them are half of all that a busy sink would leave to the garbage collector.
var jobs = sync.Pool{New: func() any { return new(Job) }}

// NewJob returns the job of a fetched record, of which it takes a copy.
func NewJob(r *kgo.Record) *Job {
	j, _ := jobs.Get().(*Job)
	*j = Job{size: partition.Size(r), record: kgo.Record{Headers: j.record.Headers}, room: j.room}
	j.room = partition.Copy(&j.record, r, j.room)
	j.Record = &j.record
	return j
}

// PutAway has another record use the job's memory. It is for jobs that were handed back to
// Done, of which nobody holds anything any more: not the job, its record, nor bytes of that.
func (j *Job) PutAway() { jobs.Put(j) }

// Read reads the headers. The destination is the one that the record's topic
// names, if it names one.
func (j *Job) Read() {
	j.Headers, j.Err = kafka.HeadersOf(j.Record)
	if id, ok := partition.DestinationOf(j.Record.Topic); ok {
		j.Headers.Destination = id
	}
}

// Turn is when a retry is looked at.
func (j *Job) Turn() time.Time { return j.turn }

// Offset is that of the record.
func (j *Job) Offset() int64 { return j.Record.Offset }

// IsRetry reports whether the job came from a retry topic.
func (j *Job) IsRetry() bool { return j.part.Retry }

// IsReplay reports whether a replay sent the event, and this is the first attempt at it:
// it came from a topic of replays.
func (j *Job) IsReplay() bool { return j.part.Replay }

// Case is what there is to decide about the job.
func (j *Job) Case() schedule.Case {
	return schedule.Case{Headers: j.Headers, Err: j.Err, Slot: j.slot, Reserved: j.reserved}
}
