// Package endpoints tells how endpoints fare, as the attempts of one process have shown: which
// are left alone until a probe, how many attempts there are and how long they take. It is for
// people; counters and histograms of all processes are in their metrics.
package endpoints

import (
	"slices"
	"sync"
	"time"
)

// Endpoint is how one endpoint of a destination fares.
type Endpoint struct {
	Position int    // from 1
	URL      string // without secrets
	State    State
	// Why is the reason of the last failure of one that is down, and Detail says more.
	Why, Detail string
	// Next is when an endpoint that is down may be probed; zero: nobody waits for that.
	Next time.Time
	Figures
}

// State is whether an endpoint is sent anything.
type State string

// The states.
const (
	Untried State = "not tried" // since the process started
	Up      State = "up"
	Down    State = "down"        // it is left alone until a probe
	Probing State = "being asked" // it is down, and a probe is under way
)

// Figures are those of attempts that ended.
type Figures struct {
	// Attempts are those of the last minute, of which so many failed.
	Attempts, Failed int64
	// Half of the last attempts took no longer than Median, 95 of 100 no longer than Slow.
	// Of is how many they are, [Recent] at most; 0: none.
	Median, Slow time.Duration
	Of           int
}

const (
	// Recent is of how many attempts it is known how long they took.
	Recent = 64

	slots   = 12
	perSlot = time.Minute / slots
)

// Record counts attempts. The zero Record has seen none. It is safe for concurrent use.
type Record struct {
	mu    sync.Mutex
	slots [slots]slot // by their number
	took  [Recent]time.Duration
	ended int
}

// slot is a part of a minute.
type slot struct{ number, ended, failed int64 }

// Ended counts an attempt that took so long.
func (r *Record) Ended(now time.Time, took time.Duration, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := now.UnixNano() / int64(perSlot)
	s := &r.slots[number%slots]
	if s.number != number {
		*s = slot{number: number}
	}
	s.ended++
	if failed {
		s.failed++
	}
	r.took[r.ended%Recent] = took
	r.ended++
}

// Figures returns those of now.
func (r *Record) Figures(now time.Time) (f Figures) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := now.UnixNano() / int64(perSlot)
	for _, s := range r.slots {
		if s.number > number-slots && s.number <= number {
			f.Attempts += s.ended
			f.Failed += s.failed
		}
	}
	if f.Of = min(r.ended, Recent); f.Of == 0 {
		return f
	}
	sorted := slices.Sorted(slices.Values(r.took[:f.Of]))
	f.Median, f.Slow = sorted[(f.Of-1)/2], sorted[(f.Of*95+99)/100-1]
	return f
}
