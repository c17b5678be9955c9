package work

import (
	"fmt"
	"testing"
)

// lifeSums are what the lives were made of: a property that nothing put to the
// test has not been shown.
type lifeSums struct {
	lives, events, delivered, refused, exceeded, twice int
	attempts, withheld, hops, reserved, hinted         int
	mostAttempts, mostWrites                           int     // with the product's schedule
	jitter                                             [10]int // how often each tenth of the spread was met
}

func (s *lifeSums) add(o *lifeSums) {
	s.lives += o.lives
	s.events += o.events
	s.delivered += o.delivered
	s.refused += o.refused
	s.exceeded += o.exceeded
	s.twice += o.twice
	s.attempts += o.attempts
	s.withheld += o.withheld
	s.hops += o.hops
	s.reserved += o.reserved
	s.hinted += o.hinted
	s.mostAttempts, s.mostWrites = max(s.mostAttempts, o.mostAttempts), max(s.mostWrites, o.mostWrites)
	for i := range s.jitter {
		s.jitter[i] += o.jitter[i]
	}
}

func (s *lifeSums) String() string {
	return fmt.Sprintf("%d lives, %d events: %d delivered, %d refused for good, %d exceeded, %d twice after a kill; "+
		"%d attempts (most %d), %d withheld, %d hops, %d reserved, %d Retry-After, most writes %d, jitter by tenths %v",
		s.lives, s.events, s.delivered, s.refused, s.exceeded, s.twice,
		s.attempts, s.mostAttempts, s.withheld, s.hops, s.reserved, s.hinted, s.mostWrites, s.jitter)
}

// check fails when too little has happened, or jitter is uneven.
func (s *lifeSums) check(t *testing.T) {
	t.Helper()
	for what, n := range map[string]int{
		"deliveries": s.delivered, "refusals": s.refused, "windows": s.exceeded, "repeats": s.twice,
		"withheld attempts": s.withheld, "Retry-After": s.hinted,
	} {
		if n == 0 {
			t.Errorf("%d %s in all lives, expected more", n, what)
		}
	}
	s.checkJitter(t)
}

func (s *lifeSums) checkJitter(t *testing.T) {
	t.Helper()
	total := 0
	for _, n := range s.jitter {
		total += n
	}
	if total < 1000 {
		return // too few to tell
	}
	for tenth, n := range s.jitter {
		if n < total/20 || n > total/5 {
			t.Errorf("%d of %d delays in tenth %d of the jitter, expected about %d", n, total, tenth, total/10)
		}
	}
}
