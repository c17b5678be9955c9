package pace

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at is a moment of a test, counted from its start.
func at(d time.Duration) time.Time { return start.Add(d) }

// recovered is a pace whose outage ends at the start of the test, with so many
// fresh events a second and a receiver that takes 20 ms: 32 slots do 1,600/s.
func recovered(fresh int, change func(*Pace)) *Pace {
	p := New(0)
	for s := range 120 {
		p.Arrived(fresh, at(time.Duration(s-119)*time.Second))
	}
	if change != nil {
		change(p)
	}
	p.Withheld(at(-30 * time.Minute))
	p.Answered(20*time.Millisecond, start)
	return p
}

const slots = 32

func expectRate(t *testing.T, p *Pace, when time.Duration, expected float64) {
	t.Helper()
	if got := p.Rate(at(when), slots); math.Abs(got-expected) > expected*1e-9 {
		t.Errorf("rate at %s is %v a second, expected %v", when, got, expected)
	}
}

func TestRateAfterAnOutage(t *testing.T) {
	p := recovered(55, nil)
	expectRate(t, p, 0, 5.5)
	expectRate(t, p, 10*time.Second, 11)
	expectRate(t, p, 60*time.Second, 352)
	expectRate(t, p, 81*time.Second, 5.5*math.Exp2(8.1))
	expectRate(t, p, 82*time.Second, 1600)
	expectRate(t, p, 4*time.Hour, 1600)
	expectRate(t, p, -time.Second, 5.5) // a clock set back
}

func TestRateWithoutAnOutage(t *testing.T) {
	p := New(0)
	expectRate(t, p, 0, 3200) // 10 ms as long as nothing is known
	p.Answered(40*time.Millisecond, start)
	expectRate(t, p, 0, 800)
	for range 1000 {
		p.Answered(0, start)
	}
	if rate := p.Rate(start, slots); rate < 31_000 || rate > 32_000 {
		t.Errorf("rate of a receiver that answers at once is %v, expected that of a millisecond", rate)
	}
}

func TestEachOutageBeginsItsOwnRamp(t *testing.T) {
	p := recovered(55, nil)
	p.Answered(20*time.Millisecond, at(30*time.Second)) // does not begin it again
	expectRate(t, p, 30*time.Second, 44)
	p.Withheld(at(30 * time.Second))
	for range 100 {
		if ok, _ := p.Take(at(30*time.Second), slots); !ok {
			t.Fatal("a start is refused in an outage, where it may be the probe")
		}
	}
	p.Answered(20*time.Millisecond, at(time.Minute))
	if rate := p.Rate(at(time.Minute), slots); rate > 5.5 {
		t.Errorf("the second ramp begins at %v a second, expected at most 5.5", rate)
	}
}

// TestAShortOutageCostsLittle: in an outage the rate falls by three quarters every
// ten seconds, down to that at which a ramp begins.
func TestAShortOutageCostsLittle(t *testing.T) {
	for _, test := range []struct {
		outage   time.Duration
		expected float64
	}{
		{time.Second, 44 * math.Exp2(-0.2)}, {5 * time.Second, 22}, {10 * time.Second, 11}, {20 * time.Second, 2.75},
	} {
		p := recovered(55, nil)
		p.Take(start, slots)
		began := 30 * time.Second
		p.Withheld(at(began))
		p.Withheld(at(began + test.outage/2)) // begins no other
		p.Answered(20*time.Millisecond, at(began+test.outage))
		if got := p.Rate(at(began+test.outage), slots); got > test.expected*1.001 || got < test.expected*0.999 {
			t.Errorf("after an outage of %s the ramp begins at %v a second, expected %v", test.outage, got, test.expected)
		}
	}
}

func TestLateNewsOfAnOutageDoNotEndTheRamp(t *testing.T) {
	p := recovered(55, nil)
	p.Take(start, slots)
	p.Withheld(start)
	if ok, _ := p.Take(at(50*time.Millisecond), slots); ok {
		t.Error("a start is granted beyond the rate of the ramp")
	}
	p.Answered(20*time.Millisecond, at(4*time.Second))
	expectRate(t, p, 0, 5.5)
	expectRate(t, p, 10*time.Second, 11)
}

func TestTheFloorIsSharedByTheGroup(t *testing.T) {
	for _, test := range []struct{ share, expected float64 }{
		{1, 1}, {0.25, 0.25}, {0, 0.001}, {2, 1}, {-1, 0.001},
	} {
		p := recovered(0, func(p *Pace) { p.SetShare(test.share) })
		expectRate(t, p, 0, test.expected)
	}
	p := recovered(55, func(p *Pace) { p.SetShare(0.25) })
	expectRate(t, p, 0, 5.5) // our fresh events are a share already
}

// TestTakeKeepsTheRate takes as often as it can, at random moments, and compares
// with the integral of the rate.
func TestTakeKeepsTheRate(t *testing.T) {
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 4))
		fresh := random.IntN(200)
		p := recovered(fresh, nil)
		base := max(float64(fresh)/10, 1)
		taken := 0
		for now := time.Duration(0); now < 100*time.Second; now += time.Duration(random.IntN(int(5 * time.Millisecond))) {
			if p.Rate(at(now), slots) >= 1600 {
				break // no pace any more
			}
			integral := base * 10 / math.Ln2 * (math.Exp2(now.Seconds()/10) - 1)
			ahead := 1 + p.Rate(at(now), slots)*0.04
			for float64(taken) <= integral+ahead {
				ok, next := p.Take(at(now), slots)
				if !ok {
					break
				}
				taken++
				if !next.IsZero() {
					t.Fatalf("seed %d: granted, and to be asked again at %s", seed, next)
				}
			}
			if float64(taken) > integral+ahead || float64(taken) < integral-ahead {
				t.Fatalf("seed %d: %d have started after %s, expected %v give or take %v", seed, taken, now, integral, ahead)
			}
		}
	}
}

func TestTakeSaysWhenToAskAgain(t *testing.T) {
	p := recovered(55, nil)
	for now := time.Duration(0); now < 30*time.Second; {
		ok, next := p.Take(at(now), slots)
		if ok {
			continue
		}
		if next.Sub(at(now)) <= 0 || next.Sub(at(now)) > 200*time.Millisecond {
			t.Fatalf("refused at %s until %s later, expected at most the fifth of a second", now, next.Sub(at(now)))
		}
		before := *p
		if ok, _ := before.Take(next.Add(-1), slots); ok {
			t.Fatalf("granted before %s, when it was to be asked again", next)
		}
		now = next.Sub(start)
		if ok, _ := p.Take(at(now), slots); !ok {
			t.Fatalf("refused at %s, when it was to be asked again", next)
		}
	}
}

func TestTakeIsUnlimitedWithoutARamp(t *testing.T) {
	quiet, done := New(0), recovered(55, nil)
	for i := range 10_000 {
		if ok, _ := quiet.Take(start, slots); !ok {
			t.Fatalf("start %d is refused although there was no outage", i)
		}
		if ok, _ := done.Take(at(82*time.Second), slots); !ok {
			t.Fatalf("start %d is refused although the ramp is over", i)
		}
	}
}

func TestReservationsFollowTheRateThatWillBe(t *testing.T) {
	p := recovered(55, nil)
	perSecond := make(map[int]int)
	last := time.Duration(0)
	for range 20_000 {
		slot := p.Reserve(start, slots).Sub(start)
		if slot <= last || slot < 5*time.Second {
			t.Fatalf("slot %s after %s, expected each later than the one before and 5s ahead", slot, last)
		}
		last = slot
		perSecond[int(slot.Seconds())]++
	}
	for _, second := range []int{20, 40, 60, 70} {
		mid := 0.9 * p.Rate(at(time.Duration(second)*time.Second+500*time.Millisecond), slots)
		if got := float64(perSecond[second]); math.Abs(got-mid) > 1+mid*0.01 {
			t.Errorf("%v slots in second %d, expected %v", got, second, mid)
		}
	}
	for second := 83; second < int(last.Seconds()); second++ {
		if n := perSecond[second]; n < 1439 || n > 1441 {
			t.Errorf("%d slots in second %d, expected 0.9 of the capacity", n, second)
		}
	}
}

func TestAReservationIsNeverNearerThanTheShortestDelay(t *testing.T) {
	for _, test := range []struct{ shortest, lead time.Duration }{
		{0, 5 * time.Second}, {time.Second, 5 * time.Second}, {time.Minute, time.Minute},
	} {
		p := New(test.shortest)
		first := p.Reserve(start, slots).Sub(start)
		if first < test.lead || first > test.lead+time.Millisecond {
			t.Errorf("shortest delay %s: first slot %s ahead, expected %s", test.shortest, first, test.lead)
		}
		if again := p.Reserve(at(time.Hour), slots).Sub(at(time.Hour)); again != first {
			t.Errorf("shortest delay %s: slot %s ahead an hour later, expected %s", test.shortest, again, first)
		}
	}
}

func TestAnOutageEndsReservations(t *testing.T) {
	p := recovered(55, nil)
	for range 20_000 {
		p.Reserve(start, slots)
	}
	p.Withheld(start)
	p.Answered(20*time.Millisecond, at(10*time.Second))
	if slot := p.Reserve(at(10*time.Second), slots).Sub(start); slot > 16*time.Second {
		t.Errorf("slot %s ahead, expected the first of the new outage", slot)
	}
}

func TestASmallShareDoesNotReserveByTheRateOfNow(t *testing.T) {
	p := recovered(0, func(p *Pace) { p.SetShare(0.01) })
	// One in a hundred seconds, but twice as many every ten: the first is due after
	// less than half a minute.
	if slot := p.Reserve(start, slots).Sub(start); slot > 40*time.Second {
		t.Errorf("slot %s ahead, expected less than 40s", slot)
	}
}

func TestRoom(t *testing.T) {
	for _, test := range []struct {
		name     string
		p        *Pace
		when     time.Duration
		slots    int
		limit    int
		expected int
	}{
		{"at the beginning of a ramp", recovered(55, nil), 0, slots, 1000, 16},
		// 5.5/s * 2^4 at 40 s, and 5 s of growth: (2^4.5 - 2^4) * 10 s / ln 2 * 5.5/s / 2
		{"within a ramp", recovered(55, nil), 40 * time.Second, slots, 1000, 262},
		{"behind a ramp", recovered(55, nil), time.Hour, slots, 1000, 500},
		{"a single slot", recovered(55, nil), time.Hour, 1, 1000, 125},
		{"no slot", recovered(55, nil), time.Hour, 0, 1000, 125},
		{"without an outage", New(0), 0, slots, 1000, 500},
		{"a small limit", recovered(55, nil), 0, slots, 10, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.p.Room(at(test.when), test.slots, test.limit); got != test.expected {
				t.Errorf("room for %d, expected %d", got, test.expected)
			}
		})
	}
}
