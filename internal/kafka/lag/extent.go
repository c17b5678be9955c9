package lag

import "time"

// Extent is what is known of one partition beside its records in hand. The zero value is
// nothing. It is not safe for concurrent use.
type Extent struct {
	end int64
	// behind is since when something is known to be left; zero while nothing is.
	behind time.Time
	passed time.Time // when the last record was taken that was passed
}

// Reach notes that a fetch tells of the partition up to end.
func (e *Extent) Reach(end int64) { e.end = max(e.end, end) }

// Look notes that somebody has looked up where the partition ends. That may be below
// what was known: the log was cut, or a fetch was quicker.
func (e *Extent) Look(end int64) { e.end = end }

// Pass notes when the record was taken that was passed last.
func (e *Extent) Pass(taken time.Time) { e.passed = taken }

// Left is how many offsets there are from next on.
func (e *Extent) Left(next int64) int64 { return max(e.end-next, 0) }

// CatchUp keeps since when something is left: since it was noticed, or since the oldest
// record in hand was taken behind which it stands. That is zero when none is in hand.
func (e *Extent) CatchUp(left bool, oldest, now time.Time) {
	switch {
	case !left:
		e.behind = time.Time{}
		return
	case e.behind.IsZero():
		e.behind = now
	}
	if !oldest.IsZero() && oldest.Before(e.behind) {
		e.behind = oldest
	}
}

// Since is when the first record was taken that is not finished; zero when all are. It is
// the oldest in hand, if there is one. If not, it is no older than what is left, nor than
// the last that was passed.
func (e *Extent) Since(left bool, oldest time.Time) time.Time {
	switch {
	case !oldest.IsZero():
		return oldest
	case !left:
		return time.Time{}
	case e.passed.After(e.behind):
		return e.passed
	default:
		return e.behind
	}
}
