package regulate

import (
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/regulation"
)

func none(string) bool { return false }
func all(string) bool  { return true }

func at(id string, notified int) regulation.Progress {
	return regulation.Progress{ID: id, Status: regulation.Running, Notified: notified}
}

func TestOwnRegulationsAreDueAtOnce(t *testing.T) {
	t.Parallel()
	a := make(agenda)
	if id, _ := a.next([]regulation.Progress{at("a", 0)}, all, noon); id != "a" {
		t.Errorf("due is %q", id)
	}
	if id, wait := a.next(nil, all, noon); id != "" || wait != 0 || len(a) != 0 {
		t.Errorf("with nothing left: %q, %s, %d appointments", id, wait, len(a))
	}
}

// TestOthersAreTakenUpWhenTheyStandStill walks through the life of a regulation
// that another process had.
func TestOthersAreTakenUpWhenTheyStandStill(t *testing.T) {
	t.Parallel()
	a := make(agenda)
	for _, step := range []struct {
		after    time.Duration
		notified int
		due      bool
		wait     time.Duration
	}{
		{0, 0, false, takeOverAfter},
		{takeOverAfter - time.Second, 0, false, time.Second},
		{takeOverAfter - time.Millisecond, 100, false, takeOverAfter}, // it gets on
		{takeOverAfter, 100, false, takeOverAfter - time.Millisecond},
		{2*takeOverAfter - time.Millisecond, 100, true, 0},
	} {
		id, wait := a.next([]regulation.Progress{at("a", step.notified)}, none, noon.Add(step.after))
		if (id == "a") != step.due || wait != step.wait {
			t.Errorf("after %s: %q, %s", step.after, id, wait)
		}
	}
}

func TestPausesGrow(t *testing.T) {
	t.Parallel()
	a := make(agenda)
	now := noon
	var pauses []time.Duration
	for range 9 {
		if id, _ := a.next([]regulation.Progress{at("a", 0)}, all, now); id != "a" {
			t.Fatalf("not due at %s", now.Sub(noon))
		}
		a.failed(at("a", 0), now)
		_, wait := a.next([]regulation.Progress{at("a", 0)}, all, now)
		pauses = append(pauses, wait)
		now = now.Add(wait)
	}
	if pauses[0] != retryAfter || pauses[1] != 2*retryAfter || pauses[8] != longestPause {
		t.Errorf("pauses %v", pauses)
	}
	a.failed(at("b", 0), now) // one that was finished meanwhile
	if len(a) != 1 {
		t.Errorf("%d appointments", len(a))
	}
}

// TestTheNextOneDueDecides: one that waits does not hold up another.
func TestTheNextOneDueDecides(t *testing.T) {
	t.Parallel()
	a := make(agenda)
	both := []regulation.Progress{at("old", 0), at("mine", 0)}
	mine := func(id string) bool { return id == "mine" }
	if id, _ := a.next(both, mine, noon); id != "mine" {
		t.Errorf("due is %q", id)
	}
	a.failed(at("mine", 0), noon)
	if id, wait := a.next(both, mine, noon); id != "" || wait != retryAfter {
		t.Errorf("%q is due, or something in %s", id, wait)
	}
}
