package webhooksink

import "github.com/anabranch/anabranch/webhook-sink/internal/lanes"

// queue is what the dispatcher knows of one destination.
type queue struct {
	topic string
	lanes lanes.Lanes[*job] // first attempts that wait
	// bytes of first attempts, from when they were fetched until they are
	// finished: an event whose retry record is not acknowledged still counts, so
	// nothing piles up behind a broker that does not write.
	bytes  int
	paused bool // the topic is not fetched
	inTurn bool // stands in the dispatcher's line of those that wait for a slot

	firsts, retries int // attempts in flight
}

func (q *queue) inFlight() int { return q.firsts + q.retries }

// shares are the limits of attempts in flight.
type shares struct {
	each  int // per destination
	total int
}

// room reports whether a destination may start one more attempt, when inFlight
// are under way over all destinations.
//
// Beside its own limit a destination never has more in flight than what is left
// free for the others. So there is always something left: k destinations that
// hang share the total with one part more than there are of them, and that part
// is there for whoever comes new. With a plain limit sixteen dead destinations
// at 64 would hold all of 1,024 slots, and the next one would get a slot once in
// five seconds.
func (s shares) room(q *queue, inFlight int) bool {
	return q.inFlight() < s.each && q.inFlight() < s.total-inFlight
}

// first reports whether a first attempt may start. An eighth of a destination's
// slots is left to retries: a retry does not wait for a slot but is put back,
// and where fresh events take every slot the moment it is free, it would be put
// back until its window is over.
func (s shares) first(q *queue, inFlight int) bool {
	return s.room(q, inFlight) && q.firsts < s.each-s.each/8
}

// retry reports whether a retry may start. Retries take half of a destination's
// slots at most, so that fresh events stay fast when a backlog returns.
func (s shares) retry(q *queue, inFlight int) bool {
	return s.room(q, inFlight) && q.retries < max(1, s.each/2)
}

const (
	// queueBudget is what all queues together may hold.
	queueBudget = 128 << 20
	// A healthy destination must find its next events in the queue while a fetch
	// is under way; beyond a few MiB more only costs memory.
	maxQueueBytes = 4 << 20
	minQueueBytes = 128 << 10

	// A partition of retries pauses above parkHigh and resumes below parkLow. It
	// needs only the few that are due next.
	parkHigh = 128 << 10
	parkLow  = 64 << 10
)

// marks returns above how many bytes the topic of one of n destinations pauses
// and below how many it resumes.
func marks(n int) (high, low int) {
	high = min(max(queueBudget/max(n, 1), minQueueBytes), maxQueueBytes)
	return high, high / 2
}
