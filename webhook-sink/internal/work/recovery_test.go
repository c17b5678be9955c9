package work

import (
	"math"
	"testing"
	"time"
)

// bounds are what an outage may cost; zero: nothing.
type bounds struct {
	outage

	writes   int           // of any event
	requests float64       // at the receiver, for each event
	drained  time.Duration // from its return to the end of the backlog; 0: any
	rush     bool          // its first second may be as busy as it likes
	dead     bool          // the outage is longer than the window
}

// TestRecovery is about a destination that comes back. Its receiver is hardly
// busier than usual in the first second, what is new meanwhile stays fast, and what
// has waited is drained; no event dies for want of a slot, and none costs more
// writes than it has to.
func TestRecovery(t *testing.T) {
	t.Parallel()
	half := outage{rate: 55, service: 20 * time.Millisecond, down: during(30 * time.Minute), until: 50 * time.Minute}
	with := func(name string, change func(*outage)) outage {
		o := half
		o.name = name
		change(&o)
		return o
	}
	tests := []bounds{
		{outage: with("refuses for half an hour", func(*outage) {}), writes: 12, requests: 1.1, drained: 15 * time.Minute},
		{outage: with("hangs for half an hour", func(o *outage) { o.hangs = true }), writes: 12, requests: 1.1, drained: 15 * time.Minute},
		{outage: with("two members", func(o *outage) { o.members = 2 }), writes: 12, requests: 1.1, drained: 15 * time.Minute},
		{outage: with("up for a minute, down for three", func(o *outage) {
			o.down = func(at time.Duration) bool { return at < 60*time.Minute && at%(4*time.Minute) >= time.Minute }
			o.until = 80 * time.Minute
		}), writes: 24, requests: 1.1, drained: 30 * time.Minute},
		{outage: with("busy for half an hour", func(o *outage) {
			o.down, o.busy = nil, during(30*time.Minute)
		}), writes: 22, requests: 5, drained: 45 * time.Minute, rush: true},
		{outage: with("refuses for all of the window", func(o *outage) {
			o.rate, o.down, o.until = 2, during(4*time.Hour), 4*time.Hour+10*time.Minute
		}), writes: 20, requests: 2.5, drained: 30 * time.Minute, dead: true},
		{outage: with("refuses for 3h50m", func(o *outage) {
			o.rate, o.down, o.until = 2, during(3*time.Hour+50*time.Minute), 4*time.Hour
		}), writes: 20, requests: 2.5, drained: 30 * time.Minute, dead: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := tt.play(t)
			t.Log(&r)
			tt.judge(t, r)
		})
	}
}

func (b *bounds) judge(t *testing.T, r toll) {
	t.Helper()
	if r.lost+r.twice > 0 {
		t.Errorf("%d events lost, %d delivered or given up twice; expected neither", r.lost, r.twice)
	}
	if r.dead > 0 && !b.dead || r.late > 0 {
		t.Errorf("%d events died, %d of them without an attempt in their last half hour", r.dead, r.late)
	}
	if r.maxWrites > b.writes {
		t.Errorf("%d writes for an event, expected %d at most", r.maxWrites, b.writes)
	}
	if most := b.requests*float64(r.events) + b.probes(); float64(r.requests) > most {
		t.Errorf("%d requests, expected %.0f at most: %.2f for each event, and the probes", r.requests, most, b.requests)
	}
	// The probe, and at a tenth of the size the first retry, count for more than
	// they are.
	if most := int(math.Ceil(1.2 * b.scaled())); !b.rush && r.firstSecond > max(most, int(math.Ceil(b.scaled()))+4) {
		t.Errorf("%d requests in the first second after the return, expected %d at most", r.firstSecond, most)
	}
	if r.freshP99 > 2*time.Second {
		t.Errorf("p99 of what was new after the return: %s, expected 2s at most", r.freshP99)
	}
	if r.drained > b.drained {
		t.Errorf("the last that had failed was delivered %s after the return, expected within %s", r.drained, b.drained)
	}
}

// probes is how many probes a receiver that refuses connections may get while it
// is down: one in three seconds or a little less, from each member. At the full size
// they hardly count.
func (o *outage) probes() float64 {
	n := 0.0
	for at := time.Duration(0); at < o.until; at += time.Second {
		if o.down != nil && o.down(at) {
			n += 1 / (3 * 0.75)
		}
	}
	return n * float64(max(o.members, 1))
}
