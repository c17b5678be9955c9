package waiting

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := NewPace(100)
	if got := p.Wait(start); got != 0 {
		t.Fatalf("the first batch waits %s", got)
	}
	p.Left(10, start)
	for name, step := range map[string]struct{ late, want time.Duration }{
		"at once":       {0, 100 * time.Millisecond},
		"on the way":    {60 * time.Millisecond, 40 * time.Millisecond},
		"just in time":  {100 * time.Millisecond, 0},
		"past the time": {3 * time.Second, 0},
	} {
		if got := p.Wait(start.Add(step.late)); got != step.want {
			t.Errorf("%s: the second batch waits %s, want %s", name, got, step.want)
		}
	}
	// 30 ms late: the third keeps its time.
	p.Left(10, start.Add(130*time.Millisecond))
	if got := p.Wait(start.Add(130 * time.Millisecond)); got != 70*time.Millisecond {
		t.Errorf("after a late batch the next waits %s, want 70ms", got)
	}
	// A minute late: no burst follows.
	late := start.Add(time.Minute)
	p.Left(10, late)
	if got := p.Wait(late); got != 100*time.Millisecond {
		t.Errorf("after a pause the next batch waits %s, want 100ms", got)
	}
}
