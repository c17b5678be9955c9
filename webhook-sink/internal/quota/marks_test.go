package quota

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const fetchWait = 250 * time.Millisecond

func TestMarks(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name      string
		slot      time.Duration // zero: no attempt yet
		size      int
		n         int
		high, low int
	}{
		{"no attempt yet", 0, 0, 1, 6_553_600, 3_276_800}, // 250 ms * 64 / 10 ms * 2 KiB, and twice that
		{"nobody", 0, 0, 0, 6_553_600, 3_276_800},
		{"as fast as it gets", time.Microsecond, 2048, 1, 8 << 20, 4 << 20},
		{"200 ms", 200 * ms, 2048, 1, 327_680, 163_840},
		{"200 ms with large events", 200 * ms, 16 << 10, 1, 2_621_440, 1_310_720},
		{"hangs", 5 * time.Second, 2048, 1, 128 << 10, 64 << 10},
		{"one of 64", ms, 2048, 64, 512 << 10, 256 << 10},
		{"one of 250", ms, 2048, 250, 134_217, 67_108},
		{"one of 100,000", ms, 2048, 100_000, 128 << 10, 64 << 10},
		{"hangs, one of 64", 5 * time.Second, 2048, 64, 128 << 10, 64 << 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if high, low := speedOf(tt.slot, tt.size).Marks(tt.n, 64, fetchWait); high != tt.high || low != tt.low {
				t.Errorf("high %d and low %d, expected %d and %d", high, low, tt.high, tt.low)
			}
		})
	}
}

// TestKeep: an eighth of what pauses the topic at most, so that a few keys are not all
// that waits, and what lasts for two fetches where that is less.
func TestKeep(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		slot       time.Duration
		high, want int
	}{
		{ms / 10, 8 << 20, 1 << 20},
		{20 * ms, 2 << 20, 65_536},  // 51,200 bytes are less than a thirty-second
		{200 * ms, 327_680, 10_240}, // likewise 5,120
		{5 * time.Second, 128 << 10, 4096},
		{5 * ms, 6 << 20, 204_800},
	}
	for _, tt := range tests {
		if got := speedOf(tt.slot, 2048).Keep(tt.high, fetchWait); got != tt.want {
			t.Errorf("at %s, of %d bytes: %d, want %d", tt.slot, tt.high, got, tt.want)
		}
	}
}

func speedOf(slot time.Duration, size int) *Speed {
	s := new(Speed)
	if slot > 0 {
		s.Note(slot, size)
	}
	return s
}

// TestMarksOfAnySpeed: whatever destinations are like, a topic resumes at half of
// where it pauses, the faster keep more, and together they stay within the
// memory.
func TestMarksOfAnySpeed(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 7))
	for range 20_000 {
		slot := time.Duration(math.Exp(random.Float64() * math.Log(float64(time.Minute))))
		size, each, n := 1+random.IntN(2<<20), 1+random.IntN(1000), 1+random.IntN(500)
		high, low := speedOf(slot, size).Marks(n, each, fetchWait)
		faster, _ := speedOf(slot/2+1, size).Marks(n, each, fetchWait)
		larger, _ := speedOf(slot, 2*size).Marks(n, each, fetchWait)
		more, _ := speedOf(slot, size).Marks(n, 2*each, fetchWait)
		switch {
		case low < 64<<10 || high > 8<<20 || low != high/2:
			t.Fatalf("high %d, low %d", high, low)
		case min(faster, larger, more) < high:
			t.Fatalf("high %d, but twice as fast %d, with events twice as large %d, with twice the attempts %d", high, faster, larger, more)
		case n*high > 64<<20:
			t.Fatalf("%d queues of %d bytes", n, high)
		}
	}
}

func TestSpeedFollowsTheLastAttempts(t *testing.T) {
	s := speedOf(time.Second, 1000)
	for range 16 { // 1/e of the old is left
		s.Note(10*time.Millisecond, 2000)
	}
	if s.slot < 0.35 || s.slot > 0.4 || s.size < 1600 || s.size > 1660 {
		t.Errorf("%.3f s and %.0f bytes after sixteen attempts, expected about 0.37 and 1640", s.slot, s.size)
	}
}
