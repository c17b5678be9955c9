package webhooksink

import (
	"math/rand/v2"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// schedule says when a failed event is tried again and on which topic it waits.
// It has no effects; random is the only thing about it that is not a function of
// its arguments.
type schedule struct {
	delays []time.Duration // ascending, at least one
	window time.Duration
	random func() float64 // in [0, 1)
}

func newSchedule(cfg Config) *schedule {
	return &schedule{delays: cfg.RetryDelays, window: cfg.RetryWindow, random: rand.Float64}
}

// appointment is when and where an event is met again.
type appointment struct {
	due   time.Time
	topic string
}

// jitter spreads due times over half of the delay, a quarter to each side:
// events that failed together, as all do in an outage, do not come back
// together.
const jitter = 0.25

func (s *schedule) spread(delay time.Duration) time.Duration {
	return time.Duration(float64(delay) * (1 - jitter + 2*jitter*s.random()))
}

// end is the last moment at which an attempt may start.
func (s *schedule) end(first time.Time) time.Time { return first.Add(s.window) }

// again is the appointment after a failure at now, when attempts were made so
// far and the first of them began at first; false when it would lie beyond the
// window. The delays are taken in turn and the last repeats.
//
// hint is how long the receiver asked to be left alone, zero if it did not. It
// counts when it is longer than our own delay and ends inside the window. One
// that ends beyond is no reason to give the event up: a receiver that says
// "tomorrow" would have each event tried just once.
func (s *schedule) again(now, first time.Time, attempts int, hint time.Duration) (appointment, bool) {
	delay := s.delays[min(max(attempts, 1), len(s.delays))-1]
	wait := s.spread(delay)
	if hint > wait && !now.Add(hint).After(s.end(first)) {
		wait, delay = hint, s.fit(hint)
	}
	due := now.Add(wait)
	if due.After(s.end(first)) {
		return appointment{}, false
	}
	return appointment{due: due, topic: schemas.RetryTopic(delay)}, true
}

// soon is the appointment of an event that was due when its destination had no
// room; false when it would lie beyond the window.
func (s *schedule) soon(now, first time.Time) (appointment, bool) {
	due := now.Add(s.spread(s.delays[0]))
	if !first.IsZero() && due.After(s.end(first)) {
		return appointment{}, false
	}
	return appointment{due: due, topic: schemas.RetryTopic(s.delays[0])}, true
}

// onward is the appointment of an event whose topic's delay has passed before it
// is due: the same due time, on the topic that fits what is left.
func (s *schedule) onward(now, due time.Time) appointment {
	return appointment{due: due, topic: schemas.RetryTopic(s.fit(due.Sub(now)))}
}

// fit returns the longest delay that is not longer than wait, else the shortest.
func (s *schedule) fit(wait time.Duration) time.Duration {
	fit := s.delays[0]
	for _, delay := range s.delays {
		if delay <= wait {
			fit = delay
		}
	}
	return fit
}

// turn is when a record must be looked at that was written to the topic of delay
// at written and is due at due. Normally that is when it is due. A record due
// much later (a receiver asked for a long pause) is looked at when the topic's
// own delay has passed, and goes on to another topic: were it to wait here, a
// few of its kind would fill the partition's share of memory, and the records
// behind them, which are due, would not even be read. Half a delay of patience
// is what jitter and a hint between two delays need.
func turn(delay time.Duration, written, due time.Time) time.Time {
	if due.Sub(written) <= delay+delay/2 {
		return due
	}
	return written.Add(delay)
}
