package queues

// Hold says which destinations are held, all of them each time: nothing of theirs is started,
// live or of a replay, and no more of it is fetched than is in memory by then. What is held no
// longer goes on as before.
func (s *Queues[J]) Hold(ids map[string]bool) {
	s.held = ids
	for id, q := range s.ByID {
		was := q.held
		q.held = ids[id]
		for _, one := range []*Queue[J]{q, q.Replays} {
			switch {
			case one == nil || was == q.held:
			case q.held:
				s.rest(one)
			default:
				s.resume(one)
			}
		}
		s.LineUp(q)
	}
}

// IsHeld reports whether nothing may start for a destination.
func (s *Queues[J]) IsHeld(id string) bool { return s.held[id] }

// isHeld reports whether the destination of a queue is held.
func (q *Queue[J]) isHeld() bool {
	if q.live != nil {
		q = q.live
	}
	return q.held
}

// rest has a queue's topic no longer fetched, once there is something of it in memory.
func (s *Queues[J]) rest(q *Queue[J]) {
	if q.Bytes > 0 && !q.paused {
		q.paused = true
		s.Pause(q.topic)
	}
}
