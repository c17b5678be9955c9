package breaker

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at is a moment of a test, counted from its start.
func at(d time.Duration) time.Time { return start.Add(d) }

// middle spreads nothing: pauses are exactly as set.
func middle() float64 { return 0.5 }

var usual = Options{Threshold: 3, First: 10 * time.Second, Longest: time.Minute}

// opened is a breaker that opened at the start of the test.
func opened(s Options, random func() float64) *Breaker {
	b := New(s, random)
	for range max(s.Threshold, 1) {
		b.Failed(Granted, 0, start)
	}
	return b
}

func expectAdmit(t *testing.T, b *Breaker, now time.Duration, permit Permit, until time.Duration) {
	t.Helper()
	got, back := b.Admit(at(now))
	expected := time.Time{}
	if permit == Refused {
		expected = at(until)
	}
	if got != permit || !back.Equal(expected) {
		t.Fatalf("Admit at %s = %s until %s, expected %s until %s", now, got, back, permit, expected)
	}
}

func expectState(t *testing.T, b *Breaker, expected State) {
	t.Helper()
	if b.State() != expected {
		t.Fatalf("state is %s, expected %s", b.State(), expected)
	}
}

func TestOnlyFailuresInARowOpen(t *testing.T) {
	b := New(usual, middle)
	for range 5 {
		b.Failed(Granted, 0, start)
		b.Failed(Granted, 0, start)
		expectAdmit(t, b, 0, Granted, 0)
		b.Succeeded(Granted, start)
	}
	b.Failed(Granted, 0, start)
	b.Failed(Granted, 0, start)
	expectState(t, b, Closed)
	b.Failed(Granted, 0, start)
	expectState(t, b, Open)
	expectAdmit(t, b, 0, Refused, 10*time.Second)
}

func TestEachFailedProbeDoublesThePause(t *testing.T) {
	b := opened(usual, middle)
	now := time.Duration(0)
	for _, seconds := range []int{10, 20, 40, 60, 60} {
		pause := time.Duration(seconds) * time.Second
		expectAdmit(t, b, now+pause-1, Refused, now+pause)
		now += pause
		expectAdmit(t, b, now, Probe, 0)
		expectState(t, b, Probing)
		now += 5 * time.Second
		b.Failed(Probe, 0, at(now))
		expectState(t, b, Open)
	}
	expectAdmit(t, b, now+time.Minute, Probe, 0)
	b.Succeeded(Probe, start)
	expectAdmit(t, b, now+time.Minute, Granted, 0)
	for range 3 {
		b.Failed(Granted, 0, start)
	}
	expectAdmit(t, b, 0, Refused, 10*time.Second) // not a minute: success took it back to the first
}

func TestOthersWaitForTheProbe(t *testing.T) {
	b := opened(usual, middle)
	expectAdmit(t, b, 12*time.Second, Probe, 0)
	expectAdmit(t, b, 13*time.Second, Refused, 33*time.Second) // should it fail, 20 s follow
	b.Succeeded(Probe, start)
	expectAdmit(t, b, 14*time.Second, Granted, 0)
}

func TestLateReports(t *testing.T) {
	t.Run("a failure does not lengthen the pause", func(t *testing.T) {
		b := opened(usual, middle)
		b.Failed(Granted, time.Minute, at(9*time.Second))
		expectAdmit(t, b, 10*time.Second, Probe, 0)
		b.Failed(Granted, time.Minute, at(11*time.Second)) // nor ends the probe
		expectState(t, b, Probing)
	})
	t.Run("a success closes it", func(t *testing.T) {
		b := opened(usual, middle)
		b.Succeeded(Granted, start)
		expectAdmit(t, b, time.Second, Granted, 0)
	})
	t.Run("a success closes it under a probe, whose failure is then one of three", func(t *testing.T) {
		b := opened(usual, middle)
		expectAdmit(t, b, 10*time.Second, Probe, 0)
		b.Succeeded(Granted, start)
		b.Failed(Probe, 0, at(11*time.Second))
		b.Failed(Granted, 0, at(11*time.Second))
		expectAdmit(t, b, 11*time.Second, Granted, 0)
		b.Failed(Granted, 0, at(11*time.Second))
		expectAdmit(t, b, 11*time.Second, Refused, 21*time.Second)
	})
}

func TestThePauseIsNoLongerThanTheAttemptIsWorth(t *testing.T) {
	for _, test := range []struct{ longest, expected time.Duration }{
		{0, 10 * time.Second},
		{time.Second, time.Second},
		{45 * time.Second, 10 * time.Second}, // the pause of our own is shorter
		{-time.Second, 10 * time.Second},
	} {
		t.Run(test.longest.String(), func(t *testing.T) {
			b := New(usual, middle)
			b.Failed(Granted, 0, start)
			b.Failed(Granted, 0, start)
			b.Failed(Granted, test.longest, start)
			expectAdmit(t, b, 0, Refused, test.expected)
		})
	}
	t.Run("of a probe", func(t *testing.T) {
		b := opened(usual, middle)
		expectAdmit(t, b, 10*time.Second, Probe, 0)
		b.Failed(Probe, 15*time.Second, at(10*time.Second))
		expectAdmit(t, b, 10*time.Second, Refused, 25*time.Second)
		expectAdmit(t, b, 25*time.Second, Probe, 0)
		b.Failed(Probe, 0, at(25*time.Second)) // doubles what it was
		expectAdmit(t, b, 25*time.Second, Refused, 55*time.Second)
	})
}

func TestAnAbandonedProbeIsGivenBack(t *testing.T) {
	b := opened(usual, middle)
	b.Abandoned(Granted)
	expectState(t, b, Open)
	expectAdmit(t, b, 10*time.Second, Probe, 0)
	b.Abandoned(Granted)
	expectState(t, b, Probing)
	b.Abandoned(Probe)
	expectState(t, b, Open)
	expectAdmit(t, b, 10*time.Second, Probe, 0)
	b.Failed(Probe, 0, at(10*time.Second))
	expectAdmit(t, b, 10*time.Second, Refused, 30*time.Second) // the abandoned one did not double it
}

func TestALostProbeDoesNotLockForEver(t *testing.T) {
	for _, test := range []struct{ longest, lost time.Duration }{
		{time.Minute, time.Minute},
		{time.Second, 10 * time.Second}, // an attempt may still be under way after a second
	} {
		b := opened(Options{Threshold: 1, First: time.Second, Longest: test.longest}, middle)
		expectAdmit(t, b, time.Second, Probe, 0)
		lost := time.Second + test.lost
		expectAdmit(t, b, lost-1, Refused, lost-1+min(2*time.Second, test.longest))
		expectAdmit(t, b, lost, Probe, 0)
	}
}

func TestRefusedAttemptsHaveNoSay(t *testing.T) {
	b := opened(usual, middle)
	b.Succeeded(Refused, start)
	b.Abandoned(Refused)
	expectState(t, b, Open)
	b.Succeeded(Granted, start)
	for range 10 {
		b.Failed(Refused, 0, start)
	}
	expectState(t, b, Closed)
}

func TestAClockSetBack(t *testing.T) {
	b := opened(usual, middle)
	expectAdmit(t, b, -49*time.Second, Refused, 10*time.Second)
	expectAdmit(t, b, -51*time.Second, Probe, 0) // no pause is longer than a minute
	expectAdmit(t, b, -time.Hour, Probe, 0)
}

func TestSettingsAreMovedIntoTheirRange(t *testing.T) {
	for _, test := range []struct{ given, expected Options }{
		{Options{}, Options{Threshold: 1, First: time.Millisecond, Longest: 5 * time.Minute}},
		{Options{Threshold: 5, First: time.Hour, Longest: 2 * time.Hour}, Options{Threshold: 5, First: 5 * time.Minute, Longest: 5 * time.Minute}},
		{Options{Threshold: -1, First: time.Minute, Longest: time.Second}, Options{Threshold: 1, First: time.Second, Longest: time.Second}},
		{usual, usual},
	} {
		if got := test.given.inRange(); got != test.expected {
			t.Errorf("%+v becomes %+v, expected %+v", test.given, got, test.expected)
		}
	}
}

func TestProbesAreSpreadAndStayWithinTheLongestPause(t *testing.T) {
	for _, test := range []struct {
		random          float64
		first, atLength time.Duration
	}{
		{0, 7500 * time.Millisecond, 45 * time.Second},
		{0.5, 10 * time.Second, time.Minute},
		{0.999999999999, 12500 * time.Millisecond, time.Minute},
	} {
		b := opened(usual, func() float64 { return test.random })
		pauses := make([]time.Duration, 6)
		now := start
		for i := range pauses {
			_, until := b.Admit(now)
			pauses[i] = until.Sub(now).Round(time.Microsecond)
			now = until
			b.Admit(now)
			b.Failed(Probe, 0, now)
		}
		if pauses[0] != test.first || pauses[5] != test.atLength {
			t.Errorf("random %v: pauses are %v, expected %s first and %s last", test.random, pauses, test.first, test.atLength)
		}
	}
}

func TestNames(t *testing.T) {
	got := fmt.Sprint(Refused, Granted, Probe, Permit(9), Closed, Open, Probing, State(9))
	if expected := "refused granted probe unknown closed open probing unknown"; got != expected {
		t.Fatalf("names are %q, expected %q", got, expected)
	}
}

func TestASuccessInGoodHealthAllocatesNothing(t *testing.T) {
	b := New(usual, middle)
	if n := testing.AllocsPerRun(100, func() {
		permit, _ := b.Admit(start)
		b.Succeeded(permit, start)
	}); n != 0 {
		t.Fatalf("%v allocations, expected none", n)
	}
}

func TestOneProbeAmongManyGoroutines(t *testing.T) {
	b := opened(usual, middle)
	for round := range 100 {
		var probes atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				b.Failed(Granted, 0, at(time.Hour)) // late
				if permit, _ := b.Admit(at(time.Hour)); permit == Probe {
					probes.Add(1)
				}
			})
		}
		all.Wait()
		if probes.Load() != 1 {
			t.Fatalf("round %d: %d probes, expected one", round, probes.Load())
		}
		b.Abandoned(Probe)
	}
}

func BenchmarkClosed(b *testing.B) {
	br := New(usual, middle)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			permit, _ := br.Admit(start)
			br.Succeeded(permit, start)
		}
	})
}

func BenchmarkAdmitClosed(b *testing.B) {
	br := New(usual, middle)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			br.Admit(start)
		}
	})
}

// TestChanceDoesNotOpenIt: of a thousand attempts a second a fifth fails, so that
// five in a row fail every few seconds.
func TestChanceDoesNotOpenIt(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	b := New(Options{Threshold: 5, First: time.Second, Longest: time.Minute, Silence: 500 * time.Millisecond}, random.Float64)
	row, longest := 0, 0
	for i := range 100_000 {
		now := start.Add(time.Duration(i) * time.Millisecond)
		permit, _ := b.Admit(now)
		if permit != Granted {
			t.Fatalf("attempt %d is %s", i, permit)
		}
		if random.IntN(5) > 0 {
			b.Succeeded(permit, now)
			row = 0
			continue
		}
		b.Failed(permit, 0, now)
		row++
		longest = max(longest, row)
	}
	if longest < 5 {
		t.Errorf("at most %d failures in a row: nothing was shown", longest)
	}
}

// TestDeathIsNoticed, after an answer: in half a second of failures, or in fifty
// of them if they come faster.
func TestDeathIsNoticed(t *testing.T) {
	for _, test := range []struct {
		every time.Duration
		calls int
	}{{time.Millisecond, 50}, {100 * time.Millisecond, 5}, {20 * time.Millisecond, 25}, {5 * time.Second, 5}} {
		b := New(Options{Threshold: 5, First: time.Second, Longest: time.Minute, Silence: 500 * time.Millisecond}, middle)
		b.Succeeded(Granted, start)
		calls := 0
		for b.State() == Closed && calls < 1000 {
			calls++
			b.Failed(Granted, 0, start.Add(time.Duration(calls)*test.every))
		}
		if calls != test.calls {
			t.Errorf("a failure each %s: opened by the %dth, expected the %dth", test.every, calls, test.calls)
		}
	}
}
