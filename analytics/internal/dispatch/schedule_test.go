package dispatch

import (
	"testing"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestArm(t *testing.T) {
	for _, c := range []struct {
		last, now, want time.Duration
	}{
		{0, 0, 5 * time.Second},
		{0, 3 * time.Second, 5 * time.Second},
		{0, 5 * time.Second, 10 * time.Second},
		{0, time.Hour, time.Hour + 5*time.Second},
	} {
		s := schedule{lastFlush: noon.Add(c.last)}
		s.arm(noon.Add(c.now), 5*time.Second)
		if got := s.flushBy.Sub(noon); got != c.want {
			t.Errorf("last flush %v, now %v: due %v, want %v", c.last, c.now, got, c.want)
		}
	}
}

func TestNext(t *testing.T) {
	cfg := Config{FlushAt: 3, BatchBytes: 1000}
	for name, c := range map[string]struct {
		messages int
		schedule schedule
		leave    bool
		wait     time.Duration
	}{
		"nothing waits":              {0, schedule{}, false, 0},
		"few wait":                   {2, schedule{flushBy: noon.Add(time.Second)}, false, time.Second},
		"enough wait":                {3, schedule{flushBy: noon.Add(time.Second)}, true, 0},
		"few are due":                {2, schedule{dueUpTo: 1}, true, 0},
		"their moment has come":      {2, schedule{flushBy: noon}, false, 1}, // expire makes them due
		"paused by the client":       {3, schedule{paused: noon.Add(time.Minute)}, false, time.Minute},
		"paused by the server":       {3, schedule{asked: noon.Add(time.Hour), paused: noon.Add(time.Minute)}, false, time.Hour},
		"the pause is over":          {3, schedule{asked: noon, paused: noon.Add(-1)}, true, 0},
		"paused with nothing due":    {2, schedule{paused: noon.Add(time.Hour), flushBy: noon.Add(time.Second)}, false, time.Second},
		"nothing due, nothing armed": {2, schedule{}, false, 0},
	} {
		var q queue.Queue
		for range c.messages {
			q.Put(&queue.Message{})
		}
		if leave, wait := c.schedule.next(noon, &q, &cfg); leave != c.leave || wait != c.wait {
			t.Errorf("%s: %t, %v, want %t, %v", name, leave, wait, c.leave, c.wait)
		}
	}
}

func TestExpire(t *testing.T) {
	s := schedule{flushBy: noon}
	s.expire(noon.Add(-1), 7)
	if s.dueUpTo != 0 {
		t.Error("due before its moment")
	}
	s.expire(noon, 7)
	if s.dueUpTo != 7 || !s.flushBy.IsZero() {
		t.Errorf("%+v", s)
	}
}

// A pause is longer after each failure, but never put off before something new has
// left in it.
func TestFailuresDoNotStarve(t *testing.T) {
	var s schedule
	s.fail(noon, 0, 0)
	first := s.paused
	for i := range 10 {
		s.fail(noon.Add(time.Duration(i)*10*time.Millisecond), 0, 0)
	}
	if s.paused != first {
		t.Errorf("the pause moved from %v to %v", first, s.paused)
	}
	s.left(noon, time.Second, 0)
	s.fail(noon, 0, 0)
	if got := s.paused.Sub(noon); got != 5*time.Second {
		t.Errorf("after twelve failures a pause of %v", got)
	}
	s.succeed()
	s.fail(noon, 0, 0)
	if got := s.paused.Sub(noon); got != 50*time.Millisecond {
		t.Errorf("after a success a pause of %v", got)
	}
}
