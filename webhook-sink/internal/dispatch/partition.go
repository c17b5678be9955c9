package dispatch

import (
	"strconv"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// Place names a partition.
type Place struct {
	Topic string
	Num   int32
}

// partition is one partition for as long as it is assigned to us, once. When it
// is taken away and comes back it is another partition: jobs of the former keep
// pointing to the former, whose watermark nobody reads any more, so a late
// completion can't commit for a partition that is no longer ours, nor for one
// that is ours again and reads the same records anew.
type partition struct {
	Place
	id          offsets.TopicID
	destination string        // of deliver topics,
	queue       *queue        // and what they feed, once they have brought something
	retry       bool          // of retry topics,
	delay       time.Duration // and their delay

	extent    extent
	tracker   *offsets.Tracker
	aside     aside  // keys that tracker does not follow
	committed uint64 // revision of the tracker that the broker knows
	running   int    // jobs being worked on

	// closing: nothing starts any more. idle is closed once nothing runs.
	closing bool
	idle    chan struct{}

	// aloft are retries that are due, waiting for a slot or in flight.
	aloft int

	// Retries wait here until they are due: one timer, for the first of them.
	waiting dueHeap
	parked  int // bytes of those that wait or are being put back
	paused  bool
	timer   *time.Timer
}

func newPartition(at Place, before offsets.Done) *partition {
	p := &partition{Place: at, tracker: offsets.NewTracker(before), aside: newAside(before), idle: make(chan struct{})}
	p.destination, _ = schemas.DestinationOf(at.Topic)
	p.delay, p.retry = schemas.RetryDelayOf(at.Topic)
	return p
}

// accept binds a fetched job to the partition and reports whether it is to be
// worked on: not when it was finished before the partition was ours.
func (p *partition) accept(j *Job) bool {
	taken := p.taken(j)
	begun := p.tracker.Begin(j.Record.Offset, j.Record.LeaderEpoch, taken)
	if begun == offsets.Rewound {
		// The broker lost its tail and wrote these offsets anew. What is in flight from
		// here on belongs to records that are gone; the watermark may be committed
		// backwards, which repeats events where staying would skip them.
		p.tracker.Rewind(j.Record.Offset)
		p.extent = extent{}
		p.aside.rewind(j.Record.Offset)
		begun = p.tracker.Begin(j.Record.Offset, j.Record.LeaderEpoch, taken)
	}
	p.extent.last = taken
	j.part, j.reading = p, p.tracker.Reading()
	return begun == offsets.Fresh
}

// taken is since when a job's event waits: on a retry topic since it was put there,
// else since ingest took the call. The other headers of a first attempt are read
// only when it starts.
func (p *partition) taken(j *Job) int64 {
	if !p.retry {
		for i := range j.record.Headers {
			if h := &j.record.Headers[i]; h.Key == headerReceived {
				if ms, err := strconv.ParseInt(string(h.Value), 10, 64); err == nil {
					return ms
				}
			}
		}
	}
	return j.record.Timestamp.UnixMilli()
}

// headerReceived is the key of schemas.Headers.Received.
const headerReceived = "received"

// ended notes that a job is no longer worked on.
func (p *partition) ended() {
	p.running--
	p.signal()
}

// close lets nothing start any more.
func (p *partition) close() {
	if p.closing {
		return
	}
	p.closing = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.waiting = nil
	p.signal()
}

func (p *partition) signal() {
	if p.closing && p.running == 0 {
		close(p.idle)
	}
}
