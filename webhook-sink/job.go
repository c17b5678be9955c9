package webhooksink

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// job is one record from when it was fetched until it is finished: delivered, or
// its retry record or dead letter acknowledged by the broker. Its fields below
// record are the dispatcher's; a worker only reads them.
type job struct {
	record *kgo.Record
	size   int

	part *partition
	// tracker is the partition's at the time: should the log be written anew from
	// an earlier offset, the partition gets another, and this job no longer counts.
	tracker *offsets.Tracker
	queue   *queue
	key     string // lane of a first attempt
	// attempt says that the job holds a slot of its destination. A retry without
	// one is only put back.
	attempt bool

	// What the record's headers say; read when a retry is fetched, and when a
	// first attempt is worked on.
	headers schemas.Headers
	err     error
	turn    time.Time // when a retry is looked at
}

// overhead is what a waiting record costs beside its bytes: the record, its
// headers and the job.
const overhead = 768

func newJob(r *kgo.Record) *job {
	size := len(r.Key) + len(r.Value) + overhead
	for i := range r.Headers {
		size += len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return &job{record: r, size: size}
}

// read reads the headers.
func (j *job) read() { j.headers, j.err = kafka.HeadersOf(j.record) }

// isRetry reports whether the job came from a retry topic.
func (j *job) isRetry() bool { return j.part.retry }

// destination is the id of the destination the record is for, empty when a retry
// does not say.
func (j *job) destination() string {
	if j.part.retry {
		return j.headers.Destination
	}
	return j.part.destination
}
