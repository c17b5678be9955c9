package queues

import "time"

const (
	// MaxDue is how many due retries of one destination wait for a slot at most.
	MaxDue = 1000
	// MaxDueBytes is what those of all destinations may take, beside one of each.
	// As with slots, a destination gets no more bytes than it leaves to the others:
	// those that hang can't send the retries of the rest back to a topic.
	MaxDueBytes = 16 << 20
)

// MayWait reports whether a due retry of so many bytes may wait for a slot; reserved is
// one that comes back for a slot that it was given. full says that its partition has as
// many unfinished as it may.
func (s *Queues[J]) MayWait(q *Queue[J], size int, reserved, full bool, now time.Time) bool {
	switch n := q.Due.Len(); {
	case n == 0:
		return true // it takes the next slot, and the others' memory is no reason to leave that free
	case n >= MaxDue, full, q.DueBytes+size > MaxDueBytes-s.DueBytes-size:
		return false
	case reserved:
		return true
	default:
		return n < q.pace.Room(now, s.Limits.Retries(), MaxDue)
	}
}

// PushDue adds a due retry of so many bytes behind the others.
func (s *Queues[J]) PushDue(q *Queue[J], j J, size int) {
	q.Due.Push(Waiting[J]{j, size})
	s.countDue(q, size, +1)
}

// DropDue takes out the due retries that drop chooses, and returns how many.
func (s *Queues[J]) DropDue(drop func(J) bool) (dropped int) {
	for _, q := range s.ByID {
		q.Due.Remove(func(w Waiting[J]) bool {
			if !drop(w.Job) {
				return false
			}
			s.countDue(q, -w.Size, -1)
			dropped++
			return true
		})
		s.LineUp(q) // what waited behind them may be next
	}
	return dropped
}

func (s *Queues[J]) countDue(q *Queue[J], size, n int) {
	q.DueBytes += size
	s.DueBytes += size
	s.Gauges.Due.Add(float64(n))
}

// takeDue takes the next due retry of a queue that may start now; false when there is
// none. When it is the pace that forbids it, the queue naps until then.
func (s *Queues[J]) takeDue(q *Queue[J], now time.Time) (j J, ok bool) {
	if q.Due.Len() == 0 || q.Napping || !s.Limits.Retry(q.Slots, s.InFlight) {
		return j, false
	}
	if ok, next := q.pace.Take(now, s.Limits.Retries()); !ok {
		s.nap(q, next.Sub(now))
		return j, false
	}
	w := q.Due.Pop()
	s.countDue(q, -w.Size, -1)
	return w.Job, true
}

// nap lets a queue start no retry, or no event of a replay, for a time.
func (s *Queues[J]) nap(q *Queue[J], rest time.Duration) {
	q.Napping = true
	if q.timer != nil {
		q.timer.Reset(rest)
		return
	}
	q.timer = time.AfterFunc(rest, func() {
		s.Wake(func() {
			q.Napping = false
			s.LineUp(q)
		})
	})
}
