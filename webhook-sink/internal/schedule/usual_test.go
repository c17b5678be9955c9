package schedule_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// TestTheUsualSchedule: about 25 attempts at most, and one in the last half hour.
func TestTheUsualSchedule(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	cfg := config.Default()
	s := schedule.New(cfg.RetryDelays, cfg.RetryWindow, random.Float64)
	for range 10_000 {
		first := time.Unix(3_000_000, 0)
		last, attempts := first, 1
		for at, ok := s.Again(last, first, attempts, 0); ok; at, ok = s.Again(last, first, attempts, 0) {
			if s.IsLast(last, first, attempts-1) && s.End(first).Sub(last) > 30*time.Minute {
				t.Fatalf("an attempt %s before the end counts as the last", s.End(first).Sub(last))
			}
			last = at.Due()
			attempts++
		}
		if attempts < 16 || attempts > 22 {
			t.Fatalf("%d attempts, expected 16 to 22", attempts)
		}
		if left := s.End(first).Sub(last); left > 30*time.Minute || !s.IsLast(last, first, attempts-1) {
			t.Fatalf("last attempt %s before the end, known to be so: %t; expected at most half an hour, and true", left, s.IsLast(last, first, attempts-1))
		}
	}
}

// TestWhereEveryAttemptIsWithheld: an event whose endpoints are down from first to
// last still gets an attempt before its window ends, and costs few writes.
func TestWhereEveryAttemptIsWithheld(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	cfg := config.Default()
	s := schedule.New(cfg.RetryDelays, cfg.RetryWindow, random.Float64)
	for range 10_000 {
		first := time.Unix(3_000_000, 0)
		now, writes := first, 0
		for !s.IsLast(now, first, writes) {
			until := now.Add(time.Duration(random.Int64N(int64(time.Minute))))
			writes++
			at := s.UntilProbe(now, first, until, writes)
			if at.Due().Before(until) || at.Due().After(s.End(first)) {
				t.Fatalf("withheld until %s: due %s, expected not before and inside the window", until, at.Due())
			}
			now = at.Due()
		}
		if left := s.End(first).Sub(now); left < 0 || left > 30*time.Minute {
			t.Fatalf("the last attempt %s before the end, expected it within half an hour", left)
		}
		if writes > 19 {
			t.Fatalf("%d appointments before the last attempt, expected at most 19", writes)
		}
	}
}
