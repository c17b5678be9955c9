package schedule

import (
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

func pausedSince(since time.Time, destinations ...workspace.Destination) *workspace.Snapshot {
	doc := workspace.Document{Destinations: destinations, Pauses: make(map[string]workspace.Pause)}
	for _, d := range destinations {
		doc.Pauses[d.ID] = workspace.Pause{Since: since}
	}
	return doc.Snapshot()
}

// unspread is a schedule with delays and a window like the product's, without jitter.
func unspread() *Schedule {
	return New([]time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 8 * time.Minute, 23 * time.Minute}, 4*time.Hour, func() float64 { return 0.5 })
}

func TestJudgeWhilePaused(t *testing.T) {
	t.Parallel()
	ws := pausedSince(noon.Add(-time.Minute), destination("crm", true), destination("off", false))
	late := retryOf("crm", true)
	late.Headers.FirstAttempt = noon.Add(-5 * time.Hour)
	early := retryOf("crm", true)
	early.Headers.Due = noon.Add(time.Minute)
	for name, c := range map[string]struct {
		of     Case
		ending Ending // 0: to be attempted
		paused time.Duration
	}{
		"a first attempt that has a slot":    {of: firstAttempt("crm")},
		"a retry":                            {retryOf("crm", true), Hopped, 5 * time.Second},
		"a retry without a slot":             {retryOf("crm", false), Hopped, 5 * time.Second},
		"a retry of one that is off too":     {retryOf("off", true), Hopped, 5 * time.Second},
		"a retry whose window is over":       {late, Hopped, 5 * time.Second},
		"a retry that is not due":            {early, Hopped, 0},
		"a retry of one that is not known":   {retryOf("gone", true), Dead, 0},
		"a first attempt of one that is off": {firstAttempt("off"), Dead, 0},
	} {
		dest, f := unspread().Judge(c.of, ws, noon)
		if f.Ending != c.ending || (dest != nil) != (c.ending == 0) || f.Headers.Paused != c.paused {
			t.Errorf("%s: destination %v, %+v", name, dest, f)
		}
	}
}

// TestAPauseIsNoPartOfTheWindow: however long it was, what was left of the window before is
// left after it, and no more.
func TestAPauseIsNoPartOfTheWindow(t *testing.T) {
	t.Parallel()
	s := unspread()
	for _, pause := range []time.Duration{time.Second, time.Minute, 3 * time.Hour, 100 * time.Hour} {
		c := retryOf("crm", true) // an hour of its window has passed
		ws, open := pausedSince(noon, destination("crm", true)), workspace.NewSnapshot(nil, []workspace.Destination{destination("crm", true)})
		writes := 0
		for c.Headers.Due.Before(noon.Add(pause)) {
			_, f := s.Judge(c, ws, c.Headers.Due)
			if f.Ending != Hopped || !f.Headers.Due.After(c.Headers.Due) {
				t.Fatalf("put back: %+v", f)
			}
			c.Headers = f.Headers
			writes++
		}
		if waits := c.Headers.Due.Sub(noon.Add(pause)); waits > pause && waits > 5*time.Second || waits > 23*time.Minute {
			t.Errorf("after a pause of %s it waits for another %s", pause, waits)
		}
		if most := 15 + int(pause/(23*time.Minute)); writes > most {
			t.Errorf("a pause of %s takes %d writes", pause, writes)
		}
		at := c.Headers.Due
		if dest, f := s.Judge(c, open, at); dest == nil {
			t.Fatalf("it is not attempted after the pause: %+v", f)
		}
		left := 3 * time.Hour
		if f := s.After(c.Headers, outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonTimeout}, at, at); f.Ending != Retried {
			t.Errorf("after a pause of %s it is given up: %+v", pause, f)
		}
		c.Headers.Due = at.Add(left + time.Second)
		if dest, _ := s.Judge(c, open, c.Headers.Due); dest != nil {
			t.Errorf("after a pause of %s its window has not ended %s later", pause, left)
		}
	}
}
