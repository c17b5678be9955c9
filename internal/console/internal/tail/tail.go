package tail

import "time"

const (
	// PerSecond is how many of the calls of one second a tail is given. The others are counted.
	PerSecond = 100

	// What a tail has yet to take is bounded, for who does not come to take it.
	mostPending  = 4 * PerSecond
	pendingBytes = 512 << 10
)

// Counts are how many calls came since a tail began.
type Counts struct {
	Came    int64 // in all
	Wanted  int64 // of those
	LeftOut int64 // of the wanted ones, that the tail was not given
}

// News is what a tail has to tell.
type News struct {
	Counts

	// Calls are new, the oldest first of each partition.
	Calls []*Call
	// Problem is why none may come; nil: nothing stands in the way.
	Problem error
}

// Tail is what one of those who look has yet to take. Its fields are under the mutex of its
// hub.
type Tail struct {
	hub    *Hub
	wanted Wanted
	over   chan struct{}

	counts  Counts
	pending []*Call
	bytes   int
	seconds [4]second // by the last bits of the second
}

// second is how many calls of a second were given.
type second struct {
	at    int64
	given int
}

// Over is closed when the hub has ended.
func (t *Tail) Over() <-chan struct{} { return t.over }

// Take returns what is new since it was called last.
func (t *Tail) Take() News {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	news := News{t.counts, t.pending, t.hub.problem}
	t.pending, t.bytes = nil, 0
	return news
}

// hear is told a call that has just come.
func (t *Tail) hear(c *Call) {
	t.counts.Came++
	if !t.wanted.Wants(c) {
		return
	}
	t.counts.Wanted++
	if !t.admits(c.At) || !t.keep(c) {
		t.counts.LeftOut++
	}
}

// admits reports whether one more call of a second is given.
func (t *Tail) admits(at time.Time) bool {
	s := &t.seconds[uint64(at.Unix())%uint64(len(t.seconds))]
	if s.at != at.Unix() {
		*s = second{at: at.Unix()}
	}
	s.given++
	return s.given <= PerSecond
}

// keep has the call taken next, if there is room.
func (t *Tail) keep(c *Call) bool {
	if len(t.pending) >= mostPending || t.bytes > 0 && t.bytes+c.size() > pendingBytes {
		return false
	}
	t.pending = append(t.pending, c)
	t.bytes += c.size()
	return true
}
