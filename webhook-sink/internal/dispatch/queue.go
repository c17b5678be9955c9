package dispatch

import (
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/lanes"
	"github.com/anabranch/anabranch/webhook-sink/internal/pace"
)

// queue is what the dispatcher knows of one destination.
type queue struct {
	topic   string
	feeders int               // assigned partitions of the topic that have brought something
	lanes   lanes.Lanes[*Job] // first attempts that wait
	// bytes of first attempts, from when they were fetched until they are
	// finished: an event whose retry record is not acknowledged still counts, so
	// nothing piles up behind a broker that does not write.
	bytes  int
	paused bool // the topic is not fetched
	inTurn bool // stands in the dispatcher's line of those that wait for a slot
	speed  speed

	// due are retries whose time has come, in order, waiting for a slot.
	due      fifo[*Job]
	dueBytes int
	pace     *pace.Pace
	napping  bool // the pace allows no retry until the timer fires
	timer    *time.Timer

	firsts, retries int  // attempts in flight
	down            bool // the last attempt that showed something was withheld
	earned          int  // deliveries, up to where they no longer matter; see Limits.First
	afterRetry      bool // the attempt that started last was a retry
}

func (q *queue) inFlight() int { return q.firsts + q.retries }

// speed follows how fast a destination uses up its queue.
type speed struct {
	slot float64 // seconds that a first attempt holds its slot, moving average; 0 before the first
	size float64 // of an event, likewise
}

// note adds a first attempt that ended.
func (s *speed) note(slot time.Duration, size int) {
	const weight = 1.0 / 16
	if s.slot == 0 {
		s.slot, s.size = slot.Seconds(), float64(size)
		return
	}
	s.slot += (slot.Seconds() - s.slot) * weight
	s.size += (float64(size) - s.size) * weight
}

const (
	// queueBudget is what all queues together may hold. The collector lets the heap
	// grow to twice what is in use.
	queueBudget = 32 << 20
	// A healthy destination must find its next events in the queue while a fetch
	// is under way; beyond a few MiB more only costs memory.
	maxLow = 4 << 20
	minLow = 64 << 10
	// typicalSlot is assumed of a destination that had no attempt yet.
	typicalSlot = 10 * time.Millisecond
	typicalSize = 2 << 10
)

// marks returns above how many bytes the topic of one of n destinations pauses
// and below how many it resumes. After a resume nothing arrives for as long as the
// fetch takes that is under way (fetchWait), so what is left by then has to last
// so long, with each attempts at a time. Fixed marks would slow the fast down,
// whose queue runs dry, or fill the memory with the events of the dead.
func (s *speed) marks(n, each int, fetchWait time.Duration) (high, low int) {
	slot, size := s.slot, s.size
	if slot == 0 {
		slot, size = typicalSlot.Seconds(), typicalSize
	}
	drained := fetchWait.Seconds() * float64(each) / max(slot, 1e-6) * size
	low = int(min(max(drained, minLow), maxLow))
	share := max(queueBudget/max(n, 1), 2*minLow)
	high = min(2*low, share)
	return high, high / 2
}
