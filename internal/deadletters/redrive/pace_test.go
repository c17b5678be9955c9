package redrive

import (
	"testing"
	"time"
)

func TestBatchSize(t *testing.T) {
	t.Parallel()
	for rate, want := range map[int]int{1: 1, 9: 1, 10: 1, 100: 10, 105: 10, MaxRate: 1000} {
		if got := batchSize(rate); got != want {
			t.Errorf("at %d/s a batch holds %d, want %d", rate, got, want)
		}
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := newPace(100)
	if got := p.wait(start); got != 0 {
		t.Fatalf("the first batch waits %s", got)
	}
	p.left(10, start)
	for name, step := range map[string]struct{ late, want time.Duration }{
		"at once":       {0, 100 * time.Millisecond},
		"on the way":    {60 * time.Millisecond, 40 * time.Millisecond},
		"just in time":  {100 * time.Millisecond, 0},
		"past the time": {3 * time.Second, 0},
	} {
		if got := p.wait(start.Add(step.late)); got != step.want {
			t.Errorf("%s: the second batch waits %s, want %s", name, got, step.want)
		}
	}
	// 30 ms late: the third keeps its time.
	p.left(10, start.Add(130*time.Millisecond))
	if got := p.wait(start.Add(130 * time.Millisecond)); got != 70*time.Millisecond {
		t.Errorf("after a late batch the next waits %s, want 70ms", got)
	}
	// A minute late: no burst follows.
	late := start.Add(time.Minute)
	p.left(10, late)
	if got := p.wait(late); got != 100*time.Millisecond {
		t.Errorf("after a pause the next batch waits %s, want 100ms", got)
	}
}
