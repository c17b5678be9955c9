package pace

import (
	"math"
	"time"
)

// doubling is the time in which the rate of a ramp doubles. From a tenth of 55
// events a second to the 1,600 that 32 slots at 20 ms can do takes 80 s.
const doubling = 10 * time.Second

// ramp is a rate that grows from base and doubles every so often: a function of
// time alone, so what it will be at a future moment is known. The zero value has
// no limit.
type ramp struct {
	began time.Time
	base  float64 // a second, at began
}

// rate is how many a second may start at a time; +Inf without limit.
func (r ramp) rate(at time.Time) float64 {
	if r.began.IsZero() {
		return math.Inf(1)
	}
	return r.base * math.Exp2(max(at.Sub(r.began).Seconds(), 0)/doubling.Seconds())
}

// growth is the time, in seconds, in which the rate grows e-fold.
const growth = float64(doubling) / float64(time.Second) / math.Ln2

// starts is how many may start in d from a time on: the integral of the rate.
func (r ramp) starts(from time.Time, d time.Duration) float64 {
	return r.rate(from) * growth * math.Expm1(d.Seconds()/growth)
}

// gap is the time from one start to the next, in seconds: the time in which the
// integral of the rate grows by one. The inverse of the rate would be too long
// while the rate is low: at one in a hundred seconds it has grown a thousandfold
// before the next one starts.
func (r ramp) gap(at time.Time) float64 {
	return growth * math.Log1p(1/(growth*r.rate(at)))
}
