package queues

import "time"

// LineUp lets a queue wait for a slot, if it has a use for one. Queues at their
// own limit stay out of the line; they come back when one of their attempts ends.
func (s *Queues[J]) LineUp(q *Queue[J]) {
	if !q.inTurn && q.Slots.InFlight() < s.Limits.Most(&q.Slots) && (q.Lanes.Ready() || q.Due.Len() > 0 && !q.Napping) {
		q.inTurn = true
		s.line.Push(q)
	}
}

// Next takes the next job that may start, and gives it a slot; false when there is
// none. The queues in line get one slot each in turn; one that may not take a slot yet
// goes to the end of the line.
func (s *Queues[J]) Next(now time.Time) (j J, ok bool) {
	for range s.line.Len() {
		q := s.line.Pop()
		q.inTurn = false
		j, ok = s.pick(q, now)
		s.LineUp(q)
		if ok {
			return j, true
		}
	}
	return j, false
}

// IsEmpty reports whether nobody is in line.
func (s *Queues[J]) IsEmpty() bool { return s.line.Len() == 0 }

// pick takes what a queue may start now. Retries have waited longer, but where
// both kinds wait they take turns: a destination may have a single slot, or no
// more than that left to it by others, and a backlog of one kind would keep it
// from the other for as long as it lasts.
func (s *Queues[J]) pick(q *Queue[J], now time.Time) (j J, ok bool) {
	retry := !q.afterRetry
	if j, ok = s.take(q, retry, now); !ok {
		retry = !retry
		j, ok = s.take(q, retry, now)
	}
	if !ok {
		return j, false
	}
	q.afterRetry = retry
	if retry {
		q.Slots.Retries++
	} else {
		q.Slots.Firsts++
	}
	s.InFlight++
	s.Gauges.InFlight.Set(float64(s.InFlight))
	return j, true
}

func (s *Queues[J]) take(q *Queue[J], retry bool, now time.Time) (j J, ok bool) {
	switch {
	case retry:
		return s.takeDue(q, now)
	case s.Limits.Room(&q.Slots, s.InFlight):
		return q.Lanes.Pop()
	}
	return j, false
}
