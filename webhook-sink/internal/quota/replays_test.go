package quota

import (
	"testing"
	"time"
)

// TestReplaysLeaveWhatLiveEventsNeed, as far back as is remembered.
func TestReplaysLeaveWhatLiveEventsNeed(t *testing.T) {
	t.Parallel()
	limits := Limits{Each: 64, Total: 1024}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := new(Slots)
	expect := func(want int) {
		t.Helper()
		if got := limits.Replays(s, now); got != want {
			t.Errorf("%d slots for replays, expected %d", got, want)
		}
	}
	expect(32)
	s.Firsts, s.Retries = 40, 10
	s.Needed(now)
	s.Firsts, s.Retries = 0, 0
	expect(14)
	now = now.Add(peakSpan)
	expect(14)
	s.Firsts = 20
	s.Needed(now)
	expect(14)
	now = now.Add(peakSpan)
	expect(32)
	s.Firsts = 64
	s.Needed(now)
	expect(1)
	now = now.Add(time.Hour)
	expect(32)
	s.Down = true
	expect(1)
}

// TestReplaysOfAllDestinationsLeaveHalfOfTheSlots.
func TestReplaysOfAllDestinationsLeaveHalfOfTheSlots(t *testing.T) {
	t.Parallel()
	limits := Limits{Each: 4, Total: 64}
	inFlight := 0
	for range 100 {
		for s := new(Slots); limits.Replay(s, inFlight, time.Time{}); inFlight++ {
			s.Replays++
		}
	}
	if inFlight != 32 {
		t.Errorf("%d of 64 slots are taken by replays, expected half", inFlight)
	}
	if one := (Limits{Each: 1, Total: 1}); !one.Replay(new(Slots), 0, time.Time{}) {
		t.Error("a replay never starts where there is a single slot")
	}
}
