package queues

import "time"

// longestNap bounds how long replays wait for what was reserved for retries: an outage may
// have made it void.
const longestNap = 5 * time.Second

// mayReplay reports whether the first of a destination's replays is next there: nothing
// live waits, and there are slots.
func (s *Queues[J]) mayReplay(r *Queue[J]) bool {
	return !r.isHeld() && !r.Napping && r.Lanes.Ready() && !r.live.Lanes.Ready() && r.live.Due.Len() == 0 && s.hasRoom(r)
}

// MayReplay reports whether there are slots for the next of a destination's replays.
func (s *Queues[J]) MayReplay(r *Queue[J], now time.Time) bool {
	return r.Slots.Replays < r.yield.Room() && s.Limits.Replay(r.Slots, s.InFlight, now)
}

// pickReplay takes the next of a destination's replays if it may start now. After an
// outage they come behind the retries, at their pace.
func (s *Queues[J]) pickReplay(r *Queue[J], now time.Time) (j J, ok bool) {
	if !s.mayReplay(r) || !s.MayReplay(r, now) {
		return j, false
	}
	if may, next := r.pace.TakeLast(now, s.Limits.Retries()); !may {
		s.nap(r, min(next.Sub(now), longestNap))
		return j, false
	}
	if j, ok = r.Lanes.Pop(); ok {
		r.Slots.Replays++
		s.started()
	}
	return j, ok
}

// PutBack takes back an event of a replay whose attempt was withheld, and which has given
// back its slot: it is the next of its key. The others wait with it until then, or until
// something is delivered to the destination.
func (s *Queues[J]) PutBack(r *Queue[J], key string, j J, until, now time.Time) {
	r.Lanes.PutBack(key, j)
	s.nap(r, max(until.Sub(now), 0))
}

// wakeReplays ends the nap of a destination's replays, since it is back.
func (q *Queue[J]) wakeReplays() {
	if q.live != nil {
		q = q.live
	}
	if r := q.Replays; r != nil && r.Napping {
		r.timer.Stop()
		r.Napping = false
	}
}
