package pace

import (
	"math"
	"testing"
	"time"
)

func TestSteadyArrivalsAreExactWhateverTheirBatches(t *testing.T) {
	for _, test := range []struct {
		name  string
		n     int
		every time.Duration
		parts int // batches at one moment, of as many partitions
	}{
		{"one by one", 1, time.Millisecond, 1},
		{"55 a second", 1, time.Second / 55, 1},
		{"fetches", 50, 250 * time.Millisecond, 1},
		{"fetches of six partitions", 50, 250 * time.Millisecond, 6},
		{"uneven with the step", 7, 180 * time.Millisecond, 1},
		{"every ten seconds", 1000, 10 * time.Second, 1},
		{"once a minute", 3, time.Minute, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			var a arrivals
			expected := float64(test.n*test.parts) / test.every.Seconds()
			for i := range 2000 {
				now := at(time.Duration(i) * test.every)
				for range test.parts {
					a.add(test.n, now)
				}
				if now.Sub(start) < time.Second {
					continue
				}
				if got := a.at(now); math.Abs(got-expected) > 1e-6*expected {
					t.Fatalf("%v a second after %s, expected %v", got, now.Sub(start), expected)
				}
			}
		})
	}
}

func TestArrivalsFollowAChange(t *testing.T) {
	var a arrivals
	now := start
	run := func(perSecond int, d time.Duration) {
		for until := now.Add(d); now.Before(until); now = now.Add(500 * time.Millisecond) {
			a.add(perSecond/2, now)
		}
	}
	run(1000, 10*time.Minute)
	run(50, 30*time.Second)
	if rate := a.rate; rate < 390 || rate > 410 { // 50 + 950/e
		t.Errorf("%v a second after 30s, expected about 400", rate)
	}
	run(50, 5*time.Minute)
	if rate := a.rate; rate < 50 || rate > 51 {
		t.Errorf("%v a second after minutes, expected 50", rate)
	}
}

func TestSilenceCounts(t *testing.T) {
	var a arrivals
	for i := range 100 {
		a.add(100, at(time.Duration(i)*time.Second))
	}
	for _, test := range []struct {
		silence  time.Duration
		expected float64
	}{
		{0, 100},
		{time.Second, 100}, // the usual
		{31 * time.Second, 100 / math.E},
		{-time.Hour, 100}, // a clock set back
	} {
		if got := a.at(at(99*time.Second + test.silence)); math.Abs(got-test.expected) > 1e-9 {
			t.Errorf("%v a second after %s of silence, expected %v", got, test.silence, test.expected)
		}
	}
}

func TestServiceTimeIsAMovingAverage(t *testing.T) {
	var s service
	s.add(10 * time.Millisecond)
	s.add(30 * time.Millisecond)
	if got := s.seconds(); math.Abs(got-0.020) > 1e-9 {
		t.Fatalf("%v s after 10 and 30 ms, expected their mean", got)
	}
	for range 64 {
		s.add(time.Second)
	}
	if got := s.seconds(); got < 0.5 {
		t.Fatalf("%v s after 64 answers that took one, expected more than half of it", got)
	}
	for range 1000 {
		s.add(time.Second)
	}
	if got := s.seconds(); math.Abs(got-1) > 1e-3 {
		t.Fatalf("%v s after a thousand answers that took one", got)
	}
}

func BenchmarkArrived(b *testing.B) {
	var a arrivals
	now := start
	for b.Loop() {
		now = now.Add(time.Millisecond)
		a.add(1, now)
	}
}

func BenchmarkTake(b *testing.B) {
	p := recovered(55, nil)
	now := start
	for b.Loop() {
		now = now.Add(time.Microsecond)
		p.Take(now, slots)
	}
}
