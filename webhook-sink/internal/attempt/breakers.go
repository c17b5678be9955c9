package attempt

import "github.com/anabranch/anabranch/webhook-sink/internal/breaker"

// Breakers counts endpoints by the [breaker.State] of their breaker.
type Breakers [3]int

// Breakers returns the states of all endpoints that were tried since the start and
// are still configured as far as attempts have shown.
func (a *Attempter) Breakers() Breakers {
	var count Breakers
	a.plans.byID.Range(func(_, known any) bool {
		if p, ok := known.(*plan); ok {
			for _, e := range p.endpoints {
				count[e.breaker.State()]++
			}
		}
		return true
	})
	return count
}

var _ [len(Breakers{})]struct{} = [breaker.Probing + 1]struct{}{} // one for each state
