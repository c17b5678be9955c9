package pace

import (
	"math"
	"time"
)

const (
	// freshMemory is the time constant of the rate of fresh events: long against
	// the batches in which they are fetched, short against an outage.
	freshMemory = 30 * time.Second
	// freshStep is the least time over which arrivals are counted before they
	// enter the average. It makes most calls an addition.
	freshStep = 250 * time.Millisecond
)

// arrivals is a moving average of a rate. A batch is taken for what arrived
// evenly since the one before, so the average of steady arrivals is exact
// whatever their batches. The zero value is ready.
type arrivals struct {
	began   time.Time // of the first batch, which belongs to no known interval
	last    time.Time // up to here all is in the average
	pending int       // arrived since
	gap     time.Duration
	rate    float64 // a second
}

func (a *arrivals) add(n int, now time.Time) {
	if a.began.IsZero() {
		a.began, a.last = now, now
		return
	}
	a.pending += n
	gap := now.Sub(a.last)
	if gap < freshStep {
		return
	}
	observed := float64(a.pending) / gap.Seconds()
	a.rate += (observed - a.rate) * a.weight(gap, now)
	a.last, a.gap, a.pending = now, gap, 0
}

// weight is the part of the average that an interval ending at now makes up. The
// divisor makes a young average that of the time it has, instead of one that
// climbs from zero for a minute.
func (a *arrivals) weight(gap time.Duration, now time.Time) float64 {
	return decayed(gap) / decayed(now.Sub(a.began))
}

func decayed(d time.Duration) float64 { return -math.Expm1(-d.Seconds() / freshMemory.Seconds()) }

// at is the rate a second at now. Silence counts once it lasts longer than the
// interval between the last two batches.
func (a *arrivals) at(now time.Time) float64 {
	silence := max(now.Sub(a.last)-a.gap, 0)
	return a.rate * (1 - decayed(silence))
}

const (
	// serviceMemory is over how many answers the service time is averaged.
	serviceMemory = 64
	// unknownService is the service time before the first answer.
	unknownService = 10 * time.Millisecond
	// shortestService bounds the service time from below: what answers faster has
	// no limit worth knowing.
	shortestService = time.Millisecond
)

// service is a moving average of the time that an attempt takes. The zero value
// is ready.
type service struct {
	mean    float64 // seconds
	answers int     // up to serviceMemory
}

func (s *service) add(took time.Duration) {
	s.answers = min(s.answers+1, serviceMemory)
	s.mean += (max(took, shortestService).Seconds() - s.mean) / float64(s.answers)
}

// seconds is the time that an attempt takes.
func (s *service) seconds() float64 {
	if s.answers == 0 {
		return unknownService.Seconds()
	}
	return s.mean
}
