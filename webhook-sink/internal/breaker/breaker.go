package breaker

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxPause bounds the time between two probes. Within four hours, the window
	// of an event (spec.md, Errors), that leaves dozens of chances to see that an
	// endpoint is back.
	maxPause = 5 * time.Minute
	// spread is the part of a pause by which it is made shorter or longer: the
	// endpoints of one host, which fail together, are not probed together.
	spread = 0.25
	// minLease is how long a probe is waited for at least. It is longer than an
	// attempt can last, so a second probe never starts beside a first one that is
	// merely slow.
	minLease = 10 * time.Second
)

// certainty is how many times Options.Threshold failures in a row open a breaker
// whatever Options.Silence says: not even an endpoint that fails four requests of
// five fails fifty in a row by chance.
const certainty = 10

// Options are the limits of a breaker. Values out of range are moved into it.
type Options struct {
	Threshold int           // failures in a row that open it, at least 1
	First     time.Duration // pause before the first probe, at most Longest
	Longest   time.Duration // each failed probe doubles the pause up to this, at most 5 minutes; zero means that
	// Silence is for how long the endpoint must not have answered well, beside the
	// failures in a row: where thousands of attempts are made and a fifth of them
	// fails, some do so in a row by chance.
	Silence time.Duration
}

func (o Options) inRange() Options {
	o.Threshold = max(o.Threshold, 1)
	if o.Longest <= 0 || o.Longest > maxPause {
		o.Longest = maxPause
	}
	o.First = min(max(o.First, time.Millisecond), o.Longest)
	return o
}

// Breaker is the breaker of one endpoint. It is safe for concurrent use.
//
// Each attempt asks Admit first. One that was admitted ends with exactly one of
// Succeeded, Failed and Abandoned.
type Breaker struct {
	options Options
	random  func() float64

	// The first two are written under the mutex only. They are read without it, so
	// that an endpoint in good health costs its attempts two loads and a store.
	state    atomic.Uint32 // a State
	failures atomic.Int32  // in a row, while closed
	answered atomic.Int64  // when the endpoint last answered well, in Unix nanoseconds

	mu    sync.Mutex
	pause time.Duration // the present one, before it is spread
	// next is when the next probe may be made. While one is under way, it is when
	// that one counts as lost. Zero means at once.
	next time.Time
}

// New returns a closed breaker. random returns numbers in [0, 1); it is never
// called by two goroutines at once for one breaker.
func New(o Options, random func() float64) *Breaker {
	return &Breaker{options: o.inRange(), random: random}
}

// State is where the breaker stands. An open one whose pause is over stays Open
// until an attempt asks.
func (b *Breaker) State() State { return State(b.state.Load()) }

// Look returns where the breaker stands, and of one that is open when the next probe may be
// made.
func (b *Breaker) Look() (State, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if state := b.State(); state != Open {
		return state, time.Time{}
	}
	return Open, b.next
}

// Admit decides about one attempt at now. The time is zero unless the attempt is
// refused; then it is when to ask again, at most Options.Longest ahead: the next
// probe, or, while a probe is under way, the one that would follow its failure.
func (b *Breaker) Admit(now time.Time) (Permit, time.Time) {
	if b.State() == Closed {
		return Granted, time.Time{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	permit, until := b.decide(now)
	if permit == Probe {
		b.state.Store(uint32(Probing))
		b.next = now.Add(b.lease())
	}
	return permit, until
}

// decide is Admit without effects.
func (b *Breaker) decide(now time.Time) (Permit, time.Time) {
	state := b.State()
	if state == Closed {
		return Granted, time.Time{} // it has closed since that was looked at without the mutex
	}
	wait, longest := b.next.Sub(now), b.options.Longest
	if state == Probing {
		longest = b.lease()
	}
	switch {
	case wait <= 0 || wait > longest: // nothing is ever set further ahead: the clock went back
		return Probe, time.Time{}
	case state == Probing:
		return Refused, now.Add(b.doubled())
	default:
		// Counted from now, so that the wall clock of the answer is the present one
		// if it was set since.
		return Refused, now.Add(wait)
	}
}

// Succeeded says that the endpoint answered an attempt at now, with a delivery or with a
// final verdict: it is alive, and the breaker closes. So it does when the attempt
// was admitted before it opened. It reports whether this closed it.
func (b *Breaker) Succeeded(p Permit, now time.Time) (closed bool) {
	if p == Refused {
		return false
	}
	b.answered.Store(now.UnixNano())
	if b.State() == Closed && b.failures.Load() == 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures.Store(0)
	return State(b.state.Swap(uint32(Closed))) != Closed
}

// Failed says that an attempt failed at now in a way worth another try. The pause
// before the next probe is at most longest, if that is not zero: what an attempt
// costs decides how seldom one is made, and of that the caller knows more. It
// reports whether this opened the breaker, which was closed.
func (b *Breaker) Failed(p Permit, longest time.Duration, now time.Time) (opened bool) {
	if p == Refused {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch state := b.State(); {
	case state == Closed:
		if !b.isDead(int(b.failures.Add(1)), now) {
			return false
		}
		b.pause, opened = b.options.First, true
	case state == Probing && p == Probe:
		b.pause = b.doubled()
	default:
		// It was under way when the breaker opened, and the endpoint may have come
		// back since: it tells nothing new.
		return false
	}
	b.state.Store(uint32(Open))
	if longest > 0 {
		b.pause = min(b.pause, longest)
	}
	b.next = now.Add(min(b.spreadPause(), b.options.Longest))
	return opened
}

// isDead judges an endpoint by its failures in a row.
func (b *Breaker) isDead(row int, now time.Time) bool {
	if row < b.options.Threshold {
		return false
	}
	silence := now.Sub(time.Unix(0, b.answered.Load()))
	return silence >= b.options.Silence || silence < 0 || row >= certainty*b.options.Threshold // < 0: the clock was set back
}

// Abandoned says that an attempt was not made or was cut short by our own
// shutdown: it tells nothing about the endpoint. If it was the probe, another may
// be made at once.
func (b *Breaker) Abandoned(p Permit) {
	if p != Probe {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.State() == Probing {
		b.state.Store(uint32(Open))
		b.next = time.Time{}
	}
}

func (b *Breaker) doubled() time.Duration { return min(2*b.pause, b.options.Longest) }

func (b *Breaker) spreadPause() time.Duration {
	return time.Duration(float64(b.pause) * (1 - spread + 2*spread*b.random()))
}

// lease is how long a probe may be under way. One that takes longer was lost, and
// must not keep the endpoint shut for ever.
func (b *Breaker) lease() time.Duration { return max(b.options.Longest, minLease) }
