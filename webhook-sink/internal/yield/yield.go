package yield

import (
	"math"
	"time"
)

const (
	// slower is how much longer attempts may take on average before it is too much, beside
	// what chance explains, and slack how much in any case. It is small, for the slowest of
	// them suffer first.
	slower = 0.05
	slack  = time.Millisecond
	// chance is how many standard errors, or nearly, are no sign of anything.
	chance = 3.0
	// outlying is how many times, or deviations, what is usual one attempt counts for at most.
	outlying = 10.0

	most, least = 1 << 10, 1.0 / 8

	// growth is by how much the room grows with each round while nobody knows what is too
	// much, and step when somebody does.
	growth, step = 1.5, 1.1
	// A round is at least so many attempts of the replay, and so long: with each there is
	// the chance of a false alarm. Of live attempts, which are what it is about, there have
	// to be fewer, from several rounds if need be.
	round, liveRound = 16, 8
	roundTime        = time.Second

	// What was too much is tried again after firstHold, then after twice as long.
	firstHold, longestHold = 30 * time.Second, 10 * time.Minute
)

// Yield is the room of replays at one destination. The zero value has begun nothing.
type Yield struct {
	room      float64 // attempts in flight; below one, the part of the time that one is; 0: one
	own, live kind    // attempts of replays, and the others
	changed   time.Time
	began     time.Time // of the round under way
	tried     int       // attempts of replays in it

	ceiling float64 // was too much; 0: nothing was
	hold    time.Duration
	lifted  time.Time // when it is tried again
}

// kind is what is known of some attempts, in seconds.
type kind struct {
	usual, deviation float64 // of those with no replay beside them, moving averages
	known            int     // how many there were of them, up to where that no longer matters
	sum              float64 // of others, in the round under way
	n                int
}

// Room is how many replays may be in flight at a time: one at least.
func (y *Yield) Room() int { return int(max(y.allowed(), 1)) }

// Rest is how long nothing of a replay goes after an attempt of one that took so long.
func (y *Yield) Rest(took time.Duration) time.Duration {
	if room := y.allowed(); room < 1 {
		return time.Duration(float64(took) * (1/room - 1))
	}
	return 0
}

func (y *Yield) allowed() float64 {
	if y.room == 0 {
		return 1
	}
	return y.room
}

// Delivered says that an attempt was delivered at now, of a replay or a live one, and
// whether others of a replay were in flight when it began.
func (y *Yield) Delivered(replay, beside bool, took time.Duration, now time.Time) {
	k := &y.live
	if replay {
		k = &y.own
		y.tried++
	}
	switch {
	case !beside:
		k.quiet(took.Seconds())
	case !now.Add(-took).Before(y.changed): // or it says something of a room that is no more
		k.sum += k.counted(took.Seconds())
		k.n++
	}
	if y.tried >= round && now.Sub(y.began) >= roundTime {
		y.judge(now)
	}
}

// judge ends a round.
func (y *Yield) judge(now time.Time) {
	if y.own.suffers() || y.live.n >= liveRound && y.live.suffers() {
		y.shrink(now)
		return
	}
	y.own.settle()
	if y.live.n >= liveRound {
		y.live.settle()
	}
	y.grow(now)
	y.began, y.tried = now, 0
}

// memory is of how many attempts the moving averages are, nearly.
const memory = 64

// quiet adds an attempt that had no replay beside it.
func (k *kind) quiet(took float64) {
	k.known = min(k.known+1, memory)
	weight := 2 / float64(k.known+1)
	k.deviation += (math.Abs(took-k.usual) - k.deviation) * weight
	if k.known == 1 {
		k.deviation = took / 2 // nobody knows
	}
	k.usual += (took - k.usual) * weight
}

// counted is for how long an attempt counts in its round. Where all take longer each may count
// for this much; a few that take ever so long, when a network or a machine stands still for a
// moment, are no sign of too much room.
func (k *kind) counted(took float64) float64 {
	if k.known == 0 {
		return took
	}
	return min(took, max(k.usual+outlying*max(k.deviation, slack.Seconds()), outlying*k.usual))
}

// suffers reports whether the attempts of a round took longer than usual.
func (k *kind) suffers() bool {
	if k.known == 0 || k.n == 0 {
		return false
	}
	return k.sum/float64(k.n) > k.usual+k.margin()
}

// margin is by how much the attempts of a round may differ from what is usual.
func (k *kind) margin() float64 {
	by := slower*k.usual + chance*k.deviation*math.Sqrt(1/float64(k.n)+1/float64(k.known))
	return max(by, slack.Seconds())
}

// settle ends a round in which nothing took too long. Where they took less time than usual,
// the receiver has become quicker: nothing of that is a replay's doing.
func (k *kind) settle() {
	if k.n == 0 {
		return
	}
	if mean := k.sum / float64(k.n); k.known > 0 && mean < k.usual-k.margin() {
		k.usual = mean
	}
	k.sum, k.n = 0, 0
}

// shrink takes room back. What began before says nothing of what is left.
func (y *Yield) shrink(now time.Time) {
	y.ceiling = y.allowed()
	y.hold = min(max(2*y.hold, firstHold), longestHold)
	y.lifted = now.Add(y.hold)
	y.room = max(y.ceiling/2, least)
	y.changed, y.began, y.tried = now, now, 0
	y.own.sum, y.own.n, y.live.sum, y.live.n = 0, 0, 0, 0
}

// grow gives more room after a round in which nobody suffered.
func (y *Yield) grow(now time.Time) {
	room := y.allowed()
	switch {
	case y.ceiling == 0:
		room *= growth
	case room*step < y.ceiling:
		room *= step
	case now.Before(y.lifted):
		return
	default:
		room *= step
		if room > y.ceiling*step { // it is too much no more
			y.ceiling, y.hold = 0, 0
		}
	}
	y.room = min(room, most)
}
