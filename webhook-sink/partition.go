package webhooksink

import (
	"container/heap"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// place names a partition.
type place struct {
	topic string
	num   int32
}

// partition is one partition for as long as it is assigned to us, once. When it
// is taken away and comes back it is another partition: jobs of the former keep
// pointing to the former, whose watermark nobody reads any more, so a late
// completion can't commit for a partition that is no longer ours, nor for one
// that is ours again and reads the same records anew.
type partition struct {
	place
	destination string        // of deliver topics
	retry       bool          // of retry topics,
	delay       time.Duration // and their delay

	tracker   *offsets.Tracker
	committed uint64 // revision of the tracker that the broker knows
	running   int    // jobs being worked on

	// closing: nothing starts any more. idle is closed once nothing runs.
	closing bool
	idle    chan struct{}

	// Retries wait here until they are due: one timer, for the first of them.
	waiting dueHeap
	parked  int // bytes of those that wait or are being put back
	paused  bool
	timer   *time.Timer
}

func newPartition(at place, before offsets.Done) *partition {
	p := &partition{place: at, tracker: offsets.NewTracker(before), idle: make(chan struct{})}
	p.destination, _ = schemas.DestinationOf(at.topic)
	p.delay, p.retry = schemas.RetryDelayOf(at.topic)
	return p
}

// accept binds a fetched job to the partition and reports whether it is to be
// worked on: not when it was finished before the partition was ours.
func (p *partition) accept(j *job) bool {
	begun := p.tracker.Begin(j.record.Offset, j.record.LeaderEpoch)
	if begun == offsets.Rewound {
		// The broker lost its tail and wrote these offsets anew. What is in flight
		// belongs to records that are gone; the watermark starts over, and may be
		// committed backwards, which repeats events where staying would skip them.
		p.tracker, p.committed = offsets.NewTracker(offsets.Done{}), 0
		begun = p.tracker.Begin(j.record.Offset, j.record.LeaderEpoch)
	}
	j.part, j.tracker = p, p.tracker
	return begun == offsets.Fresh
}

// watermark is how far a partition is finished: what is committed for it.
type watermark struct {
	part     *partition
	tracker  *offsets.Tracker
	revision uint64
	at       kgo.EpochOffset
	done     string // the records finished beyond at, as metadata of the commit
}

// watermark returns what is to be committed; false when the broker knows it.
func (p *partition) watermark() (watermark, bool) {
	revision := p.tracker.Revision()
	if revision == p.committed {
		return watermark{}, false
	}
	offset, epoch := p.tracker.Position()
	return watermark{
		part: p, tracker: p.tracker, revision: revision,
		at: kgo.EpochOffset{Epoch: epoch, Offset: offset}, done: p.tracker.Done().Encode(offset),
	}, true
}

// noteCommitted notes that a watermark was committed.
func (w *watermark) noteCommitted() {
	if w.part.tracker == w.tracker {
		w.part.committed = w.revision
	}
}

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

// dueHeap orders retries by when they are to be looked at.
type dueHeap []*job

func (h *dueHeap) Len() int      { return len(*h) }
func (h *dueHeap) Swap(i, j int) { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }

// Less orders those of one millisecond as they were written.
func (h *dueHeap) Less(i, j int) bool {
	a, b := (*h)[i], (*h)[j]
	if !a.turn.Equal(b.turn) {
		return a.turn.Before(b.turn)
	}
	return a.record.Offset < b.record.Offset
}

// Push implements [heap.Interface].
func (h *dueHeap) Push(x any) { *h = append(*h, x.(*job)) }

// Pop implements [heap.Interface].
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	j := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return j
}

func (h *dueHeap) add(j *job) { heap.Push(h, j) }

// due takes out the first job when its turn has come, else returns nil.
func (h *dueHeap) due(now time.Time) *job {
	if len(*h) == 0 || (*h)[0].turn.After(now) {
		return nil
	}
	j := (*h)[0]
	heap.Pop(h)
	return j
}
