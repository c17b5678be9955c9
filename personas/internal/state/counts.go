package state

// Counts reports whether an event that a state has taken in counts for the answer at an
// instant, as exactly as the state has it: to the bucket.
func (q *Query) Counts(at, now int64) bool {
	takes, _ := q.Spec.Takes(at, now)
	return takes && q.Window.holds(q.Spec.At(at), now)
}
