package breaker

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

// longestAttempt is how long an attempt of the tests lasts at most.
const longestAttempt = 5300 * time.Millisecond

// attempt is one that the breaker admitted.
type attempt struct {
	permit Permit
	ends   time.Time // at the latest
}

// rig runs a breaker beside a model of it that is written the long way. The model
// does not know how pauses are spread, only within which bounds.
type rig struct {
	*testing.T
	b       *Breaker
	options Options
	now     time.Time
	alive   bool
	flying  []*attempt

	// The model.
	state             State
	row               int           // failures since the last success, while closed
	answered          time.Time     // the last success
	pause             time.Duration // before it is spread
	earliest, longest time.Time     // of the next probe
	lease             time.Time     // while probing
}

func newRig(t *testing.T, s Options, random func() float64) *rig {
	t.Helper()
	return &rig{T: t, b: New(s, random), options: s, now: start}
}

// admit asks for an attempt and checks the answer.
func (r *rig) admit() {
	permit, until := r.b.Admit(r.now)
	if !r.allowed(permit) {
		r.Fatalf("Admit = %s at %s, while %s, next probe between %s and %s, lease until %s", permit, r.now, r.state, r.earliest, r.longest, r.lease)
	}
	if ahead := until.Sub(r.now); permit == Refused && (ahead <= 0 || ahead > r.options.Longest) {
		r.Fatalf("refused until %s from now, expected at most %s", ahead, r.options.Longest)
	}
	if permit == Probe {
		r.state, r.lease = Probing, r.now.Add(r.leased())
	}
	if permit != Refused {
		r.flying = append(r.flying, &attempt{permit, r.now.Add(longestAttempt)})
	}
}

// leased is how long a probe is waited for.
func (r *rig) leased() time.Duration { return max(r.options.Longest, 10*time.Second) }

func (r *rig) allowed(p Permit) bool {
	switch r.state {
	case Closed:
		return p == Granted
	case Probing:
		left := r.lease.Sub(r.now)
		lost := left <= 0 || left > r.leased() // or the clock was set back
		return p == Probe && lost || p == Refused && !lost
	default:
		// More than the longest pause to go: the clock was set back.
		mayProbe := !r.now.Before(r.earliest) || r.longest.Sub(r.now) > r.options.Longest
		mustProbe := !r.now.Before(r.longest) || r.earliest.Sub(r.now) > r.options.Longest
		return p == Probe && mayProbe || p == Refused && !mustProbe
	}
}

// end takes an attempt out of flight and reports what became of it.
func (r *rig) end(i int, longest time.Duration) {
	a := r.take(i)
	if r.alive {
		if closed := r.b.Succeeded(a.permit, r.now); closed != (r.state != Closed) {
			r.Fatalf("Succeeded = %t while %s", closed, r.state)
		}
		r.state, r.row, r.answered = Closed, 0, r.now
		return
	}
	opens := r.state == Closed && r.dead(r.row+1)
	if opened := r.b.Failed(a.permit, longest, r.now); opened != opens {
		r.Fatalf("Failed = %t while %s, after %d failures in a row", opened, r.state, r.row)
	}
	switch {
	case r.state == Closed:
		if r.row++; !opens {
			return
		}
		r.pause = r.options.First
	case r.state == Probing && a.permit == Probe:
		r.pause = min(2*r.pause, r.options.Longest)
	default:
		return
	}
	r.state = Open
	if longest > 0 {
		r.pause = min(r.pause, longest)
	}
	bounded := func(d time.Duration) time.Time { return r.now.Add(min(d, r.options.Longest)) }
	r.earliest, r.longest = bounded(r.pause*3/4-1), bounded(r.pause*5/4+1)
}

// dead reports whether so many failures in a row open the breaker.
func (r *rig) dead(row int) bool {
	if row >= 10*r.options.Threshold {
		return true
	}
	spoke := !r.answered.IsZero() && !r.now.Before(r.answered) && r.now.Sub(r.answered) < r.options.Silence
	return row >= r.options.Threshold && !spoke
}

func (r *rig) take(i int) *attempt {
	a := r.flying[i]
	r.flying = slices.Delete(r.flying, i, i+1)
	return a
}

func (r *rig) abandon(i int) {
	a := r.take(i)
	r.b.Abandoned(a.permit)
	if a.permit == Probe && r.state == Probing {
		r.state, r.earliest, r.longest = Open, time.Time{}, time.Time{}
	}
}

// pass lets time pass, in which attempts end that may not last longer.
func (r *rig) pass(d time.Duration) {
	until := r.now.Add(d)
	for len(r.flying) > 0 && r.flying[0].ends.Before(until) {
		r.now = r.flying[0].ends
		r.end(0, 0)
	}
	r.now = until
}

// step does what two bytes say.
func (r *rig) step(op, arg byte) {
	which := func() int { return int(arg) % len(r.flying) }
	switch op % 16 {
	case 0, 1, 2, 3, 4:
		r.admit()
	case 5, 6, 7:
		if len(r.flying) > 0 {
			r.end(which(), 0)
		}
	case 8:
		if len(r.flying) > 0 {
			r.end(which(), time.Duration(arg)*time.Second)
		}
	case 9:
		r.alive = arg%4 == 0
	case 10, 11:
		r.pass(time.Duration(arg) * 10 * time.Millisecond)
	case 12, 13:
		r.pass(time.Duration(arg) * time.Second)
	case 14:
		if len(r.flying) == 0 {
			r.now = r.now.Add(-time.Duration(arg) * time.Second)
		} else {
			r.abandon(which())
		}
	case 15: // never to be heard of again
		if len(r.flying) > 0 {
			r.take(which())
		}
	}
	r.check()
}

func (r *rig) check() {
	if r.b.State() != r.state {
		r.Fatalf("state is %s, expected %s", r.b.State(), r.state)
	}
	probes := 0
	for _, a := range r.flying {
		if a.permit == Probe {
			probes++
		}
	}
	// A probe that outlives its breaker's outage may meet one of the next outage.
	// Of one outage there are never two.
	if r.options.First > longestAttempt && probes > 1 {
		r.Fatalf("%d probes in flight", probes)
	}
}

// recover is the end of each run: the endpoint is alive, and the next attempt
// that is admitted closes the breaker.
func (r *rig) recover() {
	r.alive = true
	r.pass(longestAttempt + 1)
	// Once for the pause, and once for a clock that was set back.
	for range 2 {
		r.pass(r.leased())
		r.admit()
	}
	if len(r.flying) == 0 {
		r.Fatal("no attempt is admitted although the pause is over")
	}
	r.end(0, 0)
	expectState(r.T, r.b, Closed)
}

func (r *rig) run(ops []byte) {
	for ; len(ops) >= 2; ops = ops[2:] {
		r.step(ops[0], ops[1])
	}
	r.recover()
}

var modelled = []Options{
	{Threshold: 5, First: 10 * time.Second, Longest: 5 * time.Minute},
	{Threshold: 2, First: 10 * time.Second, Longest: time.Minute, Silence: 500 * time.Millisecond},
	{Threshold: 1, First: 6 * time.Second, Longest: 20 * time.Second},
	{Threshold: 3, First: 100 * time.Millisecond, Longest: time.Second},
}

func TestAgainstTheModel(t *testing.T) {
	for seed := range uint64(2000) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 4))
			ops := make([]byte, 400)
			for i := range ops {
				ops[i] = byte(random.Uint32())
			}
			newRig(t, modelled[seed%4], random.Float64).run(ops)
		})
	}
}

func FuzzBreaker(f *testing.F) {
	f.Add(byte(0), uint64(1), []byte{0, 0, 5, 0, 0, 0, 5, 0, 12, 200, 0, 0, 9, 0, 5, 0})
	f.Add(byte(1), uint64(2), []byte{0, 0, 8, 90, 12, 60, 0, 0, 15, 0, 12, 255, 0, 0, 14, 0})
	f.Fuzz(func(t *testing.T, which byte, seed uint64, ops []byte) {
		if len(ops) > 4000 {
			return
		}
		newRig(t, modelled[int(which)%len(modelled)], rand.New(rand.NewPCG(seed, 4)).Float64).run(ops)
	})
}

// TestWhatADeadEndpointCosts counts attempts of 5 s each, with 64 wanted at any
// time, over an outage of four hours.
func TestWhatADeadEndpointCosts(t *testing.T) {
	const slots = 64
	b := New(Options{Threshold: 5, First: 10 * time.Second, Longest: 5 * time.Minute}, rand.New(rand.NewPCG(7, 4)).Float64)
	attempts, lastProbe, widest := 0, start, time.Duration(0)
	var flying []attempt
	for now := start; now.Before(at(4 * time.Hour)); now = now.Add(time.Second) {
		for len(flying) > 0 && !flying[0].ends.After(now) {
			b.Failed(flying[0].permit, 0, now)
			flying = flying[1:]
		}
		for len(flying) < slots {
			permit, _ := b.Admit(now)
			if permit == Refused {
				break
			}
			attempts++
			flying = append(flying, attempt{permit, now.Add(5 * time.Second)})
			if permit == Probe {
				widest, lastProbe = max(widest, now.Sub(lastProbe)), now
			}
		}
	}
	// Pauses of at least 3/4 of 10, 20, 40, 80 and 160 s, and then of 300 s.
	if most := slots + 5 + 4*3600/225; attempts > most || attempts < slots+40 {
		t.Errorf("%d attempts, expected %d to %d", attempts, slots+40, most)
	}
	if most := 5*time.Minute + 6*time.Second; widest > most {
		t.Errorf("%s between two probes, expected at most %s", widest, most)
	}
}
