package lag

import (
	"testing"
	"time"
)

// TestTheAgeOfWhatIsNotInHand: what is left is as old as it is known to be, or as what
// stands before it.
func TestTheAgeOfWhatIsNotInHand(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	var e Extent
	expect := func(what string, left, next int64, inHand, want time.Time) {
		t.Helper()
		if got := e.Left(next); got != left {
			t.Errorf("%s: %d left, want %d", what, got, left)
		}
		if got := e.Since(e.Left(next) > 0, inHand); !got.Equal(want) {
			t.Errorf("%s: waits since %v, want %v", what, got, want)
		}
	}
	expect("nothing is known", 0, 7, time.Time{}, time.Time{})
	e.Look(10)
	e.CatchUp(true, time.Time{}, ago(time.Minute))
	expect("noticed", 3, 7, time.Time{}, ago(time.Minute))
	e.CatchUp(true, time.Time{}, now)
	expect("noticed once", 3, 7, time.Time{}, ago(time.Minute))
	e.CatchUp(true, ago(time.Hour), now)
	expect("in hand", 3, 7, ago(time.Hour), ago(time.Hour))
	expect("behind what was in hand", 3, 7, time.Time{}, ago(time.Hour))
	e.Pass(ago(time.Second))
	expect("behind what was passed", 3, 7, time.Time{}, ago(time.Second))
	e.Reach(8)
	expect("a fetch that knows less", 3, 7, time.Time{}, ago(time.Second))
	e.Look(7)
	e.CatchUp(false, time.Time{}, now)
	expect("a log that was cut", 0, 7, time.Time{}, time.Time{})
	e.Reach(8)
	e.CatchUp(true, time.Time{}, now)
	expect("a pause", 1, 7, time.Time{}, now)
}

func TestTotalsAddUp(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	var sum Total
	if sum.Age(now) != 0 {
		t.Error("what is empty has an age")
	}
	for _, part := range []Total{
		{Records: 2, Oldest: now.Add(-time.Minute)},
		{},
		{Records: 3, Oldest: now.Add(-time.Hour)},
		{Records: 1, Oldest: now.Add(time.Hour)},
	} {
		sum.Add(part)
	}
	if sum.Records != 6 || sum.Age(now) != time.Hour {
		t.Errorf("%d records, the first %v old, want 6 and an hour", sum.Records, sum.Age(now))
	}
	if ahead := (Total{Records: 1, Oldest: now.Add(time.Hour)}); ahead.Age(now) != 0 {
		t.Errorf("by a clock that is ahead it is %v old", ahead.Age(now))
	}
}
