package pace

import (
	"math"
	"time"
)

const (
	// baseShare is the part of the rate of fresh events at which retries begin
	// after an outage. With it the receiver sees 1.1 times its steady rate in its
	// first second, within the 1.2 that it must bear.
	baseShare = 0.1
	// floor is the rate a second at which the retries of the whole group begin at
	// least: a destination without fresh events has a backlog too.
	floor = 1.0
	// minShare keeps the floor above zero, at which a ramp would never rise.
	minShare = 0.001
	// burst is how much earlier than evenly spaced a start may be. Timers fire
	// late, and what they missed is made up for.
	burst = 30 * time.Millisecond
	// settling is the time after a recovery in which news of the outage still
	// comes in: an attempt that was withheld is reported only when its retry record
	// has been written.
	settling = 5 * time.Second
	// minLead is how far ahead reservations begin at least: a record that is
	// written to a retry topic needs the time to come back.
	minLead = 5 * time.Second
	// reservable is the part of the rate that is given to reservations. What is
	// left makes up for estimates that were too high: at the full rate, retries
	// that come back for their moment find those of the moments before still
	// waiting, ever more of them, until some must be put back a second time.
	reservable = 0.9
	// minRoom is how many may always wait in memory.
	minRoom = 16
)

// Pace is the pace of the retries of one destination in this process. It is not
// safe for concurrent use.
//
// Its arguments slots are the attempts in flight that retries may hold.
type Pace struct {
	lead    time.Duration
	share   float64
	fresh   arrivals
	service service

	down  bool      // attempts are withheld, and none was delivered since
	since time.Time // the first of them was withheld
	ramp  ramp      // since the last outage
	slots int       // when that was asked about last

	free time.Time // when the next start is due, were starts evenly spaced
	slot time.Time // reserved last
}

// New returns the pace of a destination that has had no outage, in a process that
// is the whole group. No reservation is nearer than the shortest of the retry delays.
func New(shortest time.Duration) *Pace {
	return &Pace{lead: max(shortest, minLead), share: 1}
}

// SetShare says which part of the group this process is, in (0, 1]. It counts
// from the next outage on, and for the least rate after it only: the rate of
// fresh events and the slots are those of this process already.
func (p *Pace) SetShare(share float64) { p.share = min(max(share, minShare), 1) }

// Arrived says that n fresh events were fetched.
func (p *Pace) Arrived(n int, now time.Time) { p.fresh.add(n, now) }

// Withheld says that an attempt was withheld at now because no endpoint may be
// tried: the destination is down.
func (p *Pace) Withheld(now time.Time) {
	if !p.down {
		p.down, p.since = true, now
	}
}

// Answered says that an attempt was delivered at now, after took. The first one
// after Withheld ends the outage and begins the ramp; reservations made before no
// longer count. A second recovery within seconds is the first one, of which not
// all had heard: were the ramp given up in between, whatever waits would start.
func (p *Pace) Answered(took time.Duration, now time.Time) {
	p.service.add(took)
	if p.down && !p.settles(now) {
		p.recover(now)
	}
	p.down = false
}

// recover begins the ramp. During the outage the rate has come down as a ramp goes
// up, but twice as fast: a receiver that fails most requests, so that its breaker
// opens for a few seconds every now and then, has no backlog to be spared, and
// would build one up if each time began at the bottom.
func (p *Pace) recover(now time.Time) {
	base := max(baseShare*p.fresh.at(now), floor*p.share)
	before := min(p.ramp.rate(p.since), p.capacity(p.slots))
	fallen := before * math.Exp2(-2*now.Sub(p.since).Seconds()/doubling.Seconds())
	p.ramp = ramp{began: now, base: max(base, fallen)}
	if fallen < base {
		p.free, p.slot = time.Time{}, time.Time{}
	}
}

// settles reports whether the last recovery was a moment ago.
func (p *Pace) settles(now time.Time) bool {
	return !p.ramp.began.IsZero() && now.Sub(p.ramp.began) < settling
}

// Rate is how many retries a second may start at a time, now or later, unless an
// outage comes.
func (p *Pace) Rate(at time.Time, slots int) float64 {
	return min(p.ramp.rate(at), p.capacity(slots))
}

// capacity is how many retries a second the slots can do.
func (p *Pace) capacity(slots int) float64 { return float64(max(slots, 1)) / p.service.seconds() }

// gap is the time from a start to the next one, in seconds.
func (p *Pace) gap(at time.Time, slots int) float64 {
	return max(p.ramp.gap(at), 1/p.capacity(slots))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Take takes the right to start one retry now, if there is a slot for it. When
// it is refused, next is when to ask again.
//
// Without a ramp it is always granted: the slots are the limit. During an outage
// as well: the breakers refuse, and the probe must get through.
func (p *Pace) Take(now time.Time, slots int) (ok bool, next time.Time) {
	p.slots = slots
	if p.down && !p.settles(now) || p.ramp.rate(now) >= p.capacity(slots) {
		return true, time.Time{}
	}
	if next = p.free.Add(-burst); next.After(now) {
		return false, next
	}
	p.free = later(p.free, now).Add(seconds(p.gap(now, slots)))
	return true, time.Time{}
}

// TakeLast is Take for what comes behind all retries: while some have a moment reserved
// that is yet to come, it is refused until the last of those.
func (p *Pace) TakeLast(now time.Time, slots int) (ok bool, next time.Time) {
	if p.slot.After(now) {
		return false, p.slot
	}
	return p.Take(now, slots)
}

// Reserve returns the moment at which a retry that finds no room may start: the
// first one not given to another, by the rate that will hold then.
func (p *Pace) Reserve(now time.Time, slots int) time.Time {
	// Counted from now, so that the wall clock of the answer is the present one if
	// it was set since the last reservation.
	ahead := now.Add(max(p.slot.Sub(now), p.lead))
	p.slot = ahead.Add(seconds(p.gap(ahead, slots) / reservable))
	return p.slot
}

// Room is how many retries may wait in memory for their start before another one
// that is due needs a reservation. limit is how many may wait at all.
//
// It is about half of what starts before the first reservation could come back,
// at least 16 and at most half of the limit. The other half belongs to retries
// that come back for their moment and do not reserve again.
func (p *Pace) Room(now time.Time, slots, limit int) int {
	starts := min(p.ramp.starts(now, p.lead), p.capacity(slots)*p.lead.Seconds())
	return int(min(max(starts/2, minRoom), float64(limit)/2))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
