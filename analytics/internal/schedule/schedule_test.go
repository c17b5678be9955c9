package schedule

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
		s := Schedule{LastFlush: noon.Add(c.last)}
		s.Arm(noon.Add(c.now), 5*time.Second)
		if got := s.FlushBy.Sub(noon); got != c.want {
			t.Errorf("last flush %v, now %v: due %v, want %v", c.last, c.now, got, c.want)
		}
	}
}

func TestNext(t *testing.T) {
	trigger := Trigger{Messages: 3, Bytes: 1000}
	for name, c := range map[string]struct {
		messages int
		schedule Schedule
		leave    bool
		wait     time.Duration
	}{
		"nothing waits":              {0, Schedule{}, false, Ever},
		"few wait":                   {2, Schedule{FlushBy: noon.Add(time.Second)}, false, time.Second},
		"enough wait":                {3, Schedule{FlushBy: noon.Add(time.Second)}, true, 0},
		"few are due":                {2, Schedule{DueUpTo: 1}, true, 0},
		"their moment has come":      {2, Schedule{FlushBy: noon}, false, 1}, // expire makes them due
		"paused by the client":       {3, Schedule{paused: noon.Add(time.Minute)}, false, time.Minute},
		"paused by the server":       {3, Schedule{asked: noon.Add(time.Hour), paused: noon.Add(time.Minute)}, false, time.Hour},
		"the pause is over":          {3, Schedule{asked: noon, paused: noon.Add(-1)}, true, 0},
		"paused with nothing due":    {2, Schedule{paused: noon.Add(time.Hour), FlushBy: noon.Add(time.Second)}, false, time.Second},
		"nothing due, nothing armed": {2, Schedule{}, false, Ever},
	} {
		var q queue.Queue
		for range c.messages {
			q.Put(&queue.Message{})
		}
		if leave, wait := c.schedule.Next(noon, &q, trigger); leave != c.leave || wait != c.wait {
			t.Errorf("%s: %t, %v, want %t, %v", name, leave, wait, c.leave, c.wait)
		}
	}
}

func TestExpire(t *testing.T) {
	s := Schedule{FlushBy: noon}
	s.Expire(noon.Add(-1), 7)
	if s.DueUpTo != 0 {
		t.Error("due before its moment")
	}
	s.Expire(noon, 7)
	if s.DueUpTo != 7 || !s.FlushBy.IsZero() {
		t.Errorf("%+v", s)
	}
}

// A pause is longer after each failure, but never put off before something new has
// left in it.
func TestFailuresDoNotStarve(t *testing.T) {
	var s Schedule
	s.Fail(noon, 0)
	first := s.paused
	for i := range 10 {
		s.Fail(noon.Add(time.Duration(i)*10*time.Millisecond), 0)
	}
	if s.paused != first {
		t.Errorf("the pause moved from %v to %v", first, s.paused)
	}
	s.Left(noon, time.Second, 0)
	s.Fail(noon, 0)
	if got := s.paused.Sub(noon); got != 5*time.Second {
		t.Errorf("after twelve failures a pause of %v", got)
	}
	s.Succeed()
	s.Fail(noon, 0)
	if got := s.paused.Sub(noon); got != 50*time.Millisecond {
		t.Errorf("after a success a pause of %v", got)
	}
}
