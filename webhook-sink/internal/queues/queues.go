package queues

import (
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/webhook-sink/internal/lanes"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/pace"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
	"github.com/anabranch/anabranch/webhook-sink/internal/yield"
)

// Options are what queues are made of.
type Options struct {
	Limits    quota.Limits
	Shortest  time.Duration // of the retry delays
	FetchWait time.Duration // how long a fetch may be under way when there is nothing to fetch
	Gauges    Gauges
	// Pause and Resume stop and continue the fetching of a topic.
	Pause, Resume func(topic string)
	// Wake is called when the pace lets a destination start retries again that it had
	// kept waiting, on a goroutine of its own, with what ends the wait.
	Wake func(end func())
}

// Gauges show what waits and what is in flight.
type Gauges struct {
	InFlight prometheus.Gauge // attempts
	Queued   prometheus.Gauge // bytes of first attempts, waiting or in flight
	Due      prometheus.Gauge // retries that wait for a slot
}

// Queues are those of all destinations, of jobs of type J. Its fields and those of a
// Queue are for reading: their methods write them.
type Queues[J any] struct {
	Options

	ByID     map[string]*Queue[J] // by destination
	InFlight int                  // attempts, over all queues
	DueBytes int                  // retries that wait for a slot

	line  FIFO[*Queue[J]] // those with something ready, in turn
	last  FIFO[*Queue[J]] // those of replays, behind all of the others
	fed   int             // queues that an assigned partition feeds
	held  map[string]bool // destinations for which nothing may start
	share float64         // of the group's retries that are ours
}

// Queue is what is known of one destination, or of what replays send there: those have a
// queue of their own, which shares the slots and the pace with that of the live events, and
// has no due retries. A replayed event that failed is a retry like any other.
type Queue[J any] struct {
	Replays *Queue[J] // to this destination; nil before the first
	live    *Queue[J] // of a queue of replays: that of the destination

	Lanes lanes.Lanes[J] // first attempts that wait
	// Bytes of first attempts, from when they were fetched until they are finished, and
	// AsideBytes those of them whose key is set aside, which are not in Bytes.
	Bytes, AsideBytes int
	// AsideKeys are keys that are set aside, over all partitions: the dispatcher's count.
	AsideKeys int
	Due       FIFO[Waiting[J]] // retries whose time has come, in order, waiting for a slot
	DueBytes  int
	Napping   bool // no retry may start until the timer fires; of replays: none of them
	Slots     *quota.Slots

	topic   string // of its partitions, once one feeds it
	feeders int    // assigned partitions of the topic that have brought something
	paused  bool   // the topic is not fetched
	held    bool   // nothing may start; of replays, the destination's says so
	speed   quota.Speed

	pace       *pace.Pace
	yield      *yield.Yield
	timer      *time.Timer
	inTurn     bool // stands in the line of those that wait for a slot
	afterRetry bool // the attempt that started last was a retry
}

// Waiting is a job that waits, of so many bytes.
type Waiting[J any] struct {
	Job  J
	Size int
}

// New returns queues of no destination.
func New[J any](o Options) *Queues[J] {
	return &Queues[J]{Options: o, ByID: make(map[string]*Queue[J]), share: 1}
}

// Of returns the queue of a destination, which it makes if there is none.
func (s *Queues[J]) Of(id string) *Queue[J] {
	q := s.ByID[id]
	if q == nil {
		q = &Queue[J]{held: s.held[id], Slots: new(quota.Slots), pace: pace.New(s.Shortest), yield: new(yield.Yield)}
		q.pace.SetShare(s.share)
		s.ByID[id] = q
	}
	return q
}

// OfReplays returns the queue of what replays send to a destination, which it makes if
// there is none.
func (s *Queues[J]) OfReplays(id string) *Queue[J] {
	q := s.Of(id)
	if q.Replays == nil {
		q.Replays = &Queue[J]{live: q, Slots: q.Slots, pace: q.pace, yield: q.yield}
	}
	return q.Replays
}

// IsPaused reports whether the topic of a destination is not fetched: that of its live
// events, or of what replays send there.
func (s *Queues[J]) IsPaused(id string, replay bool) bool {
	q := s.ByID[id]
	if q != nil && replay {
		q = q.Replays
	}
	return q != nil && q.paused
}

// SetShare says which part of the group's retries is ours, in (0, 1].
func (s *Queues[J]) SetShare(share float64) {
	s.share = share
	for _, q := range s.ByID {
		q.pace.SetShare(share)
	}
}

// Stop ends the timers.
func (s *Queues[J]) Stop() {
	for q := range maps.Values(s.ByID) {
		q.stop()
		if q.Replays != nil {
			q.Replays.stop()
		}
	}
}

func (q *Queue[J]) stop() {
	if q.timer != nil {
		q.timer.Stop()
	}
}

// Feed notes that one more partition of a topic feeds a queue.
func (s *Queues[J]) Feed(q *Queue[J], topic string) {
	q.topic = topic
	if q.feeders++; q.feeders == 1 {
		s.fed++
	}
}

// Unfeed takes back a Feed, and the first attempts that drop chooses out of what waits;
// it takes them off their account.
func (s *Queues[J]) Unfeed(q *Queue[J], drop func(J) bool) {
	q.Lanes.Remove(drop)
	if q.feeders--; q.feeders == 0 {
		s.fed--
	}
	s.resume(q)
	s.LineUp(q) // what waited behind it may be next
}

// Push puts a first attempt of so many bytes into the lane of its key, and on its
// account: that of keys that are set aside, or of all others.
func (s *Queues[J]) Push(q *Queue[J], key string, j J, size int, aside bool) {
	s.charge(q, size, aside)
	q.Lanes.Push(key, j)
}

// Discharge takes a first attempt off its account.
func (s *Queues[J]) Discharge(q *Queue[J], size int, aside bool) {
	s.charge(q, -size, aside)
	s.resume(q)
}

func (s *Queues[J]) charge(q *Queue[J], size int, aside bool) {
	if aside {
		q.AsideBytes += size
	} else {
		q.Bytes += size
	}
	s.Gauges.Queued.Add(float64(size))
}

// resume is called whenever bytes leave a queue. A paused queue has some, and each of
// them leaves one day, so none stays paused for ever: not when its partitions are
// revoked, and not when they come back. One that is held stays paused while anything of it
// is in memory.
func (s *Queues[J]) resume(q *Queue[J]) {
	if !q.paused || q.isHeld() && q.Bytes > 0 {
		return
	}
	if _, low := s.Marks(q); q.Bytes < low {
		q.paused = false
		s.Resume(q.topic)
	}
}

// Arrived notes that so many first attempts were fetched and pushed. If more waits now
// than the destination may have in memory, what cut is handed leaves it: the last of a
// key's waiting events, of which kept says how many stay if keep bytes are to. A few
// keys may hold much of it, and are not what the others wait for. If that does not help,
// the topic pauses. That of a destination which is held pauses at once, and so does that of
// replays: they may rest for as long as an outage lasts, and a key that waits holds up nobody
// there but the rest of a replay.
func (s *Queues[J]) Arrived(q *Queue[J], n int, kept func(waiting []J, keep int) int, cut func(rest []J)) {
	high, _ := s.Marks(q)
	if q.live == nil {
		q.pace.Arrived(n, time.Now())
	}
	if q.live == nil && !q.held && q.Bytes > high {
		keep := q.speed.Keep(high, s.FetchWait)
		q.Lanes.Trim(func(waiting []J) int { return kept(waiting, keep) }, cut)
	}
	s.LineUp(q)
	if q.Bytes > high || q.isHeld() {
		s.rest(q)
	}
}

// Marks are above how many bytes the topic pauses and below how many it resumes.
func (s *Queues[J]) Marks(q *Queue[J]) (high, low int) {
	each := s.Limits.Each
	if q.live != nil {
		each = (each + 1) / 2 // see [quota.Limits.Replays]
	}
	return q.speed.Marks(s.fed, each, s.FetchWait)
}

// Allowance is how many bytes of one key that is away may be in memory, and whether
// all of them together have reached their limit. A key may have one event all the
// same.
func (s *Queues[J]) Allowance(q *Queue[J]) (each int, full bool) {
	high, _ := s.Marks(q)
	return high / 2 / max(q.AsideKeys, 1), q.AsideBytes >= high
}

// Reserve returns a slot in the future for a retry that finds none.
func (s *Queues[J]) Reserve(q *Queue[J], now time.Time) time.Time {
	return q.pace.Reserve(now, s.Limits.Retries())
}

// Ended gives back the slot of an attempt which was of so many bytes and held it for
// held, and notes what its outcome shows of the destination. beside says whether others of a
// replay were in flight there when it began.
func (s *Queues[J]) Ended(q *Queue[J], retry, beside bool, o outcome.Outcome, size int, held time.Duration, now time.Time) {
	switch {
	case o.Verdict == outcome.Withheld && !o.Partial:
		q.Slots.Down = true
		q.pace.Withheld(now)
	case o.Verdict == outcome.Delivered:
		if q.Slots.Down {
			q.wakeReplays()
		}
		q.Slots.Earned, q.Slots.Down = min(q.Slots.Earned+1, s.Limits.Each), false
		q.pace.Answered(o.Took, now)
		q.yield.Delivered(q.live != nil, beside, o.Took, now)
	}
	s.InFlight--
	s.Gauges.InFlight.Set(float64(s.InFlight))
	switch {
	case retry:
		q.Slots.Retries--
		return
	case q.live != nil:
		q.Slots.Replays--
		if rest := q.yield.Rest(o.Took); rest > 0 {
			s.nap(q, min(rest, longestNap))
		}
	default:
		q.Slots.Firsts--
	}
	q.speed.Note(held, size)
}
