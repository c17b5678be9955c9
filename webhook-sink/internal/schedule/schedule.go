package schedule

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Schedule says when a failed event is tried again and on which topic it waits.
// Its jitter is the only thing about it that is not a function of its arguments.
type Schedule struct {
	delays []time.Duration // ascending, at least one
	window time.Duration
	random func() float64 // in [0, 1)
}

// New returns a Schedule of delays, which are taken in turn and of which the last
// repeats until the window, counted from the first attempt, is over. random
// yields numbers in [0, 1); nil: math/rand's.
func New(delays []time.Duration, window time.Duration, random func() float64) *Schedule {
	if random == nil {
		random = rand.Float64
	}
	return &Schedule{delays: delays, window: window, random: random}
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

// patience is how many delays a record may be due behind its writing so that it is
// left in peace until then; see Turn.
const patience = 1.5

func (s *Schedule) spread(delay time.Duration) time.Duration {
	return scale(delay, 1-jitter+2*jitter*s.random())
}

// end is the last moment at which an attempt may start.
func (s *Schedule) end(first time.Time) time.Time { return first.Add(s.window) }

// delay is the pause after so many appointments: attempts and those withheld.
func (s *Schedule) delay(appointments int) time.Duration {
	return s.delays[min(max(appointments, 1), len(s.delays))-1]
}

// last reports whether an attempt now may be the last, since the next could lie
// beyond the window.
func (s *Schedule) last(now, first time.Time, appointments int) bool {
	if first.IsZero() {
		first = now
	}
	longest := scale(s.delay(appointments+1), 1+jitter)
	return now.Add(longest).After(s.end(first))
}

// again is the appointment after a failure at now, when so many appointments were
// kept and the first of them was at first; false when it would lie beyond the
// window. The delays are taken in turn and the last repeats.
//
// hint is how long the receiver asked to be left alone, zero if it did not. It
// counts when it is longer than our own delay and ends inside the window. One
// that ends beyond is no reason to give the event up: a receiver that says
// "tomorrow" would have each event tried just once.
func (s *Schedule) again(now, first time.Time, appointments int, hint time.Duration) (appointment, bool) {
	delay := s.delay(appointments)
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

// untilProbe is the appointment of an event whose attempt was withheld until a
// time: the ordinary one, but not before that, and never beyond the window, whose
// end belongs to a last attempt. One that would be too early takes the next delay
// that is not, so that it waits on a topic of its own and costs one write.
func (s *Schedule) untilProbe(now, first, until time.Time, appointments int) appointment {
	wait := s.spread(s.delay(appointments))
	if rest := until.Sub(now); rest > wait {
		wait = s.beyond(rest)
	}
	return s.within(now, first, now.Add(wait))
}

// beyond is a wait of at least rest, spread as delays are.
func (s *Schedule) beyond(rest time.Duration) time.Duration {
	for _, delay := range s.delays {
		if scale(delay, 1-jitter) >= rest {
			return s.spread(delay)
		}
	}
	longest := s.delays[len(s.delays)-1]
	return rest + scale(longest, jitter*s.random())
}

// within is the appointment at due, or a little before the end of the window if
// due lies beyond: spread over the shortest delay, so that those who meet there do
// not come all at once, and another before the end, so that they may wait a while
// for a slot.
func (s *Schedule) within(now, first, due time.Time) appointment {
	if end := s.end(first); due.After(end) {
		due = end.Add(-scale(s.delays[0], 1+s.random()))
		if due.Before(now) {
			due = now
		}
	}
	return appointment{due: due, topic: schemas.RetryTopic(s.fit(due.Sub(now)))}
}

// onward is the appointment of an event whose topic's delay has passed before it
// is due: the same due time, on the topic that fits what is left.
func (s *Schedule) onward(now, due time.Time) appointment {
	return appointment{due: due, topic: schemas.RetryTopic(s.fit(due.Sub(now)))}
}

// fit returns the delay whose topic suits a wait: one on which it is looked at when
// it is due, else one that leaves a rest for which there is such a topic, else the
// longest that is not longer than the wait, else the shortest. Each topic but the
// last costs a write.
func (s *Schedule) fit(wait time.Duration) time.Duration {
	fit := s.delays[0]
	suits := false
	for _, delay := range s.delays {
		switch {
		case covers(delay, wait):
			return delay
		case delay <= wait && (!suits || s.covered(wait-delay)):
			fit, suits = delay, s.covered(wait-delay)
		}
	}
	return fit
}

func (s *Schedule) covered(wait time.Duration) bool {
	return slices.ContainsFunc(s.delays, func(delay time.Duration) bool { return covers(delay, wait) })
}

// covers reports whether a record due after wait may stand on the topic of delay
// until then: there it is read when the others are that were written with it, which
// have the same range of due times or nearly so.
func covers(delay, wait time.Duration) bool {
	return wait >= scale(delay, 1-jitter) && wait <= scale(delay, patience)
}

func scale(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// Turn is when a record must be looked at that was written to the topic of delay
// at written and is due at due. Normally that is when it is due. A record due
// much later (a receiver asked for a long pause) is looked at when the topic's
// own delay has passed, and goes on to another topic: were it to wait here, a
// few of its kind would fill the partition's share of memory, and the records
// behind them, which are due, would not even be read. Half a delay of patience
// is what jitter and a hint between two delays need.
func Turn(delay time.Duration, written, due time.Time) time.Time {
	if due.Sub(written) <= scale(delay, patience) {
		return due
	}
	return written.Add(delay)
}

// Brief writes a duration as people do: 4h, not 4h0m0s.
func Brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
