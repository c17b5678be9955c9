package pace

import (
	"testing"
	"time"
)

func TestGathering(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	end := time.Now()
	for name, c := range map[string]struct {
		took  time.Duration
		rate  float64
		after time.Duration // the last transaction
		want  time.Duration
	}{
		"nothing is known":              {0, 0, 0, 0},
		"quick brokers":                 {1 * ms, 250, 0, 0},
		"just behind the last":          {4 * ms, 250, 0, 16 * ms},
		"some time behind it":           {4 * ms, 250, 10 * ms, 6 * ms},
		"the first after a pause":       {4 * ms, 250, time.Second, 0},
		"slow brokers":                  {30 * ms, 250, 0, 20 * ms},
		"enough come sooner":            {5 * ms, 1600, 0, 10 * ms},
		"a backlog":                     {8 * ms, 100_000, 0, 0},
		"a rate that is not known yet":  {3 * ms, 0, 0, 12 * ms},
		"long after, at a rate unknown": {3 * ms, 0, 12 * ms, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := Gathering{took: c.took, rate: c.rate, ended: end}
			if got := g.Wait(end.Add(c.after)); got.Round(ms) != c.want {
				t.Errorf("they wait %s, want %s", got, c.want)
			}
		})
	}
}

// TestGatheringFollowsWhatIsThere: averages come near what transactions are like, and
// leave it again.
func TestGatheringFollowsWhatIsThere(t *testing.T) {
	t.Parallel()
	var g Gathering
	now := time.Now()
	transactions := func(n, events int, took, every time.Duration) {
		for range n {
			now = now.Add(every)
			g.Committed(events, now.Add(-took), now)
		}
	}
	transactions(50, 5, 4*time.Millisecond, 20*time.Millisecond)
	if got := g.Wait(now).Round(time.Millisecond); got != 16*time.Millisecond {
		t.Errorf("at 250 events a second they wait %s", got)
	}
	transactions(50, 2000, 10*time.Millisecond, 11*time.Millisecond)
	if got := g.Wait(now); got != 0 {
		t.Errorf("in a backlog they wait %s", got)
	}
	transactions(80, 1, time.Millisecond, 100*time.Millisecond)
	if got := g.Wait(now); got != 0 {
		t.Errorf("on quick brokers they wait %s", got)
	}
}
