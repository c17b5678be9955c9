package queues

import "time"

// LineUp lets a queue wait for a slot, if it has a use for one. Queues at their
// own limit stay out of the line; they come back when one of their attempts ends.
//
// With a destination its replays line up: they may go when nothing of it waits any more.
func (s *Queues[J]) LineUp(q *Queue[J]) {
	if q.live != nil {
		q = q.live
	}
	if q.held {
		return
	}
	if !q.inTurn && s.hasRoom(q) && (q.Lanes.Ready() || q.Due.Len() > 0 && !q.Napping) {
		q.inTurn = true
		s.line.Push(q)
	}
	if r := q.Replays; r != nil && !r.inTurn && s.mayReplay(r) {
		r.inTurn = true
		s.last.Push(r)
	}
}

func (s *Queues[J]) hasRoom(q *Queue[J]) bool { return q.Slots.InFlight() < s.Limits.Most(q.Slots) }

// Next takes the next job that may start, and gives it a slot; false when there is
// none. The queues in line get one slot each in turn; one that may not take a slot yet
// goes to the end of the line. An event of a replay gets one when no other can use it.
func (s *Queues[J]) Next(now time.Time) (j J, ok bool) {
	if j, ok = s.nextIn(&s.line, s.pick, now); ok {
		return j, true
	}
	return s.nextIn(&s.last, s.pickReplay, now)
}

func (s *Queues[J]) nextIn(line *FIFO[*Queue[J]], pick func(*Queue[J], time.Time) (J, bool), now time.Time) (j J, ok bool) {
	for range line.Len() {
		q := line.Pop()
		q.inTurn = false
		j, ok = pick(q, now)
		s.LineUp(q)
		if ok {
			return j, true
		}
	}
	return j, false
}

// IsEmpty reports whether nobody is in line.
func (s *Queues[J]) IsEmpty() bool { return s.line.Len()+s.last.Len() == 0 }

// pick takes what a queue may start now. Retries have waited longer, but where
// both kinds wait they take turns: a destination may have a single slot, or no
// more than that left to it by others, and a backlog of one kind would keep it
// from the other for as long as it lasts.
func (s *Queues[J]) pick(q *Queue[J], now time.Time) (j J, ok bool) {
	if q.held { // since it lined up
		return j, false
	}
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
	q.Slots.Needed(now)
	s.started()
	return j, true
}

func (s *Queues[J]) started() {
	s.InFlight++
	s.Gauges.InFlight.Set(float64(s.InFlight))
}

func (s *Queues[J]) take(q *Queue[J], retry bool, now time.Time) (j J, ok bool) {
	switch {
	case retry:
		return s.takeDue(q, now)
	case s.Limits.Room(q.Slots, s.InFlight):
		return q.Lanes.Pop()
	}
	return j, false
}
