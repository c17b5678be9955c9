package endpoints

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFigures: attempts count for a minute, and how long they took for as long as there are no others.
func TestFigures(t *testing.T) {
	t.Parallel()
	var r Record
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	same := func(at time.Duration, want Figures) {
		t.Helper()
		if diff := cmp.Diff(want, r.Figures(noon.Add(at))); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", at, diff)
		}
	}
	same(0, Figures{})
	for i := range 100 {
		r.Ended(noon.Add(time.Duration(i)*time.Second/2), time.Duration(i+1)*time.Millisecond, i%4 == 0)
	}
	ms := time.Millisecond
	same(50*time.Second, Figures{Attempts: 100, Failed: 25, Median: 68 * ms, Slow: 97 * ms, Of: Recent})
	same(90*time.Second, Figures{Attempts: 30, Failed: 7, Median: 68 * ms, Slow: 97 * ms, Of: Recent})
	same(time.Hour, Figures{Median: 68 * ms, Slow: 97 * ms, Of: Recent})
	r.Ended(noon.Add(time.Hour), time.Second, true)
	same(time.Hour, Figures{Attempts: 1, Failed: 1, Median: 69 * ms, Slow: 98 * ms, Of: Recent})
}

// TestOneAttempt is the median and the slowest.
func TestOneAttempt(t *testing.T) {
	t.Parallel()
	var r Record
	r.Ended(time.Unix(0, 0), time.Second, false)
	if diff := cmp.Diff(Figures{Attempts: 1, Median: time.Second, Slow: time.Second, Of: 1}, r.Figures(time.Unix(59, 0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
