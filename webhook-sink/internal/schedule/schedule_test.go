package schedule

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// delays are those of most tests.
var delays = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute}

// longest is the longest window there may be.
const longest = 4 * time.Hour

// fixed is a schedule whose jitter is always at one point of its range.
func fixed(at float64) *Schedule {
	return New(delays, longest, func() float64 { return at })
}

const middle = 0.5 // no jitter at all

func TestDelaysAreTakenInTurn(t *testing.T) {
	s := fixed(middle)
	first := time.Unix(1_000_000, 0)
	for attempts, want := range []time.Duration{
		0: 5 * time.Second, // no attempt yet counts like one
		1: 5 * time.Second,
		2: 30 * time.Second,
		3: 2 * time.Minute,
		4: 5 * time.Minute,
		5: 10 * time.Minute,
		6: 15 * time.Minute,
		7: 15 * time.Minute,
	} {
		at, ok := s.again(first, first, attempts, 0)
		if !ok || at.due.Sub(first) != want || at.topic != schemas.RetryTopic(want) {
			t.Errorf("after %d attempts: %v, %t; expected %s on its own topic", attempts, at, ok, want)
		}
	}
}

func TestJitterSpreadsOverHalfOfTheDelay(t *testing.T) {
	first := time.Unix(1_000_000, 0)
	early, _ := fixed(0).again(first, first, 3, 0)
	late, _ := fixed(0.999999).again(first, first, 3, 0)
	if got := late.due.Sub(early.due).Round(time.Millisecond); got < time.Minute-time.Millisecond {
		t.Errorf("due times of a delay of 2m spread over %s, expected 1m", got)
	}
	if early.topic != late.topic || early.topic != "webhook-retry.2m" {
		t.Errorf("topics %s and %s, expected both to be the delay's own", early.topic, late.topic)
	}
}

func TestHintOfTheReceiver(t *testing.T) {
	s := fixed(middle)
	first := time.Unix(1_000_000, 0)
	tests := []struct {
		name     string
		elapsed  time.Duration
		attempts int
		hint     time.Duration
		wait     time.Duration
		topic    string
	}{
		{"shorter than ours", 0, 2, 10 * time.Second, 30 * time.Second, "webhook-retry.30s"},
		{"longer than ours", 0, 1, 3 * time.Minute, 3 * time.Minute, "webhook-retry.2m"},
		{"exactly another delay", 0, 1, 10 * time.Minute, 10 * time.Minute, "webhook-retry.10m"},
		{"longer than all delays", 0, 1, 2 * time.Hour, 2 * time.Hour, "webhook-retry.15m"},
		{"to the end of the window", time.Hour, 1, 3 * time.Hour, 3 * time.Hour, "webhook-retry.15m"},
		{"beyond the window", time.Hour, 1, 3*time.Hour + time.Millisecond, 5 * time.Second, "webhook-retry.5s"},
		{"a year", 0, 6, 365 * 24 * time.Hour, 15 * time.Minute, "webhook-retry.15m"},
	}
	for _, tt := range tests {
		now := first.Add(tt.elapsed)
		at, ok := s.again(now, first, tt.attempts, tt.hint)
		if !ok || at.due.Sub(now) != tt.wait || at.topic != tt.topic {
			t.Errorf("%s: %s on %s, %t; expected %s on %s", tt.name, at.due.Sub(now), at.topic, ok, tt.wait, tt.topic)
		}
	}
}

func TestTheWindowEnds(t *testing.T) {
	s := fixed(middle)
	first := time.Unix(1_000_000, 0)
	if at, ok := s.again(first.Add(3*time.Hour+45*time.Minute), first, 20, 0); !ok || at.due != s.end(first) {
		t.Errorf("15m before the end: %v, %t; expected an attempt at the very end", at, ok)
	}
	if at, ok := s.again(first.Add(3*time.Hour+45*time.Minute+1), first, 20, 0); ok {
		t.Errorf("less than 15m before the end: %v, expected none", at)
	}
}

// TestEveryScheduleEndsInTime runs whole lives of an event that always fails, with
// random schedules and hints.
func TestEveryScheduleEndsInTime(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		s := &Schedule{window: time.Duration(1+random.Int64N(int64(longest/time.Millisecond))) * time.Millisecond, random: random.Float64}
		delay := time.Duration(0)
		for range 1 + random.IntN(6) {
			delay += time.Duration(1+random.IntN(600_000)) * time.Millisecond
			s.delays = append(s.delays, delay)
		}
		first := time.Unix(2_000_000, 0)
		now := first
		for attempts := 1; ; attempts++ {
			if now.After(s.end(first)) {
				t.Fatalf("delays %v, window %s: attempt %d began %s after the first", s.delays, s.window, attempts, now.Sub(first))
			}
			var hint time.Duration
			if random.IntN(3) == 0 {
				hint = time.Duration(random.Int64N(int64(5 * time.Hour)))
			}
			at, ok := s.again(now, first, attempts, hint)
			if !ok {
				if left := s.end(first).Sub(now); left > delay+delay/4 {
					t.Fatalf("delays %v, window %s: given up %s before the end", s.delays, s.window, left)
				}
				break
			}
			if on, known := schemas.RetryDelayOf(at.topic); !known || Turn(on, now, at.due).Before(now) {
				t.Fatalf("appointment %v has no good topic", at)
			}
			if !at.due.After(now) {
				t.Fatalf("due %s, not after %s", at.due, now)
			}
			now = at.due
		}
	}
}

func TestUntilTheProbe(t *testing.T) {
	first := time.Unix(1_000_000, 0)
	tests := []struct {
		name         string
		elapsed      time.Duration
		appointments int
		until        time.Duration
		wait         time.Duration // with the jitter in its middle
		topic        string
	}{
		{"a probe before our own delay", 0, 3, 10 * time.Second, 2 * time.Minute, "webhook-retry.2m"},
		{"a probe after our own delay", 0, 1, 40 * time.Second, 2 * time.Minute, "webhook-retry.2m"},
		{"a probe that the next delay may be too early for", 0, 1, 30 * time.Second, 2 * time.Minute, "webhook-retry.2m"},
		{"a probe after all delays", 0, 1, 14 * time.Minute, 14*time.Minute + 15*time.Minute/8, "webhook-retry.15m"},
		{"a probe in the past", 0, 1, -time.Hour, 5 * time.Second, "webhook-retry.5s"},
		{"beyond the window", 4*time.Hour - time.Minute, 1, 5 * time.Minute, time.Minute - 7500*time.Millisecond, "webhook-retry.30s"},
	}
	for _, tt := range tests {
		now := first.Add(tt.elapsed)
		at := fixed(middle).untilProbe(now, first, now.Add(tt.until), tt.appointments)
		if at.due.Sub(now) != tt.wait || at.topic != tt.topic {
			t.Errorf("%s: %s on %s, expected %s on %s", tt.name, at.due.Sub(now), at.topic, tt.wait, tt.topic)
		}
	}
}

// TestTheTopicThatFits: a wait costs one write where a topic covers it, and few
// where none does.
func TestTheTopicThatFits(t *testing.T) {
	tests := []struct{ wait, want time.Duration }{
		{time.Millisecond, 5 * time.Second}, // shorter than all
		{5 * time.Second, 5 * time.Second},
		{7500 * time.Millisecond, 5 * time.Second},
		{22500 * time.Millisecond, 30 * time.Second}, // as early as jitter makes it
		{29 * time.Second, 30 * time.Second},
		{45 * time.Second, 30 * time.Second},
		{50 * time.Second, 5 * time.Second},   // and then 45s
		{65 * time.Second, 30 * time.Second},  // and then 35s
		{270 * time.Second, 5 * time.Minute},  // as early as jitter makes it
		{200 * time.Second, 30 * time.Second}, // and then 170s
		{24 * time.Minute, 15 * time.Minute},  // and then 9m
		{240 * time.Minute, 15 * time.Minute}, // as often as it takes
	}
	for _, tt := range tests {
		if got := fixed(middle).fit(tt.wait); got != tt.want {
			t.Errorf("wait of %s: %s, expected %s", tt.wait, got, tt.want)
		}
	}
}

// TestTurn: a record is looked at when its topic's delay has passed, unless it is
// due then or nearly so.
func TestTurn(t *testing.T) {
	written := time.Unix(1_000_000, 0)
	tests := []struct {
		name string
		due  time.Duration // after written
		want time.Duration
	}{
		{"overdue", -time.Hour, -time.Hour},
		{"jitter to the left", 90 * time.Second, 90 * time.Second},
		{"jitter to the right", 150 * time.Second, 150 * time.Second},
		{"a hint between two delays", 180 * time.Second, 180 * time.Second},
		{"a hint far away", 181 * time.Second, 120 * time.Second},
	}
	for _, tt := range tests {
		if got := Turn(2*time.Minute, written, written.Add(tt.due)).Sub(written); got != tt.want {
			t.Errorf("%s: due %s after it was written, looked at after %s, expected %s", tt.name, tt.due, got, tt.want)
		}
	}
}
