package dispatch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// hang lets n destinations take as many slots as they are given.
func hang(s Limits, n int) []*queue {
	queues := make([]*queue, n)
	for i := range queues {
		queues[i] = new(queue)
	}
	inFlight := 0
	for moved := true; moved; {
		moved = false
		for _, q := range queues {
			if s.room(q, inFlight) {
				q.firsts++
				inFlight++
				moved = true
			}
		}
	}
	return queues
}

func sum(queues []*queue) int {
	total := 0
	for _, q := range queues {
		total += q.inFlight()
	}
	return total
}

func TestThereIsAlwaysRoomForOneMore(t *testing.T) {
	s := Limits{Each: 64, Total: 1024}
	for _, n := range []int{1, 15, 16, 17, 50, 200, 500} {
		hung := hang(s, n)
		if fresh := new(queue); !s.room(fresh, sum(hung)) || !s.retry(fresh, sum(hung)) {
			t.Errorf("%d destinations hang with %d attempts in flight, and another may not start one", n, sum(hung))
		}
	}
}

func TestSharesOfDestinationsThatHang(t *testing.T) {
	s := Limits{Each: 64, Total: 1024}
	tests := []struct{ hung, each int }{
		{1, 64},  // its own limit
		{16, 56}, // an eighth of the total is left free
		{50, 17}, // the same
		{200, 4}, // 64 are left free
	}
	for _, tt := range tests {
		for _, q := range hang(s, tt.hung) {
			if q.firsts < tt.each || q.firsts > tt.each+1 {
				t.Errorf("of %d that hang one has %d in flight, expected about %d", tt.hung, q.firsts, tt.each)
			}
		}
	}
}

func TestRetriesTakeHalfOfTheSlots(t *testing.T) {
	s := Limits{Each: 64, Total: 1024}
	if !s.retry(&queue{retries: 31}, 31) || !s.retry(&queue{firsts: 63}, 63) {
		t.Error("there are slots, and a retry may not start")
	}
	if s.retry(&queue{retries: 32}, 32) {
		t.Error("retries took more than half of the slots")
	}
	if !s.room(&queue{retries: 32}, 32) {
		t.Error("retries left no slot for fresh events")
	}
	if s.retry(&queue{firsts: 56, retries: 8}, 64) {
		t.Error("more attempts in flight than the destination's limit")
	}
}

func TestTheSmallestLimitsStillWork(t *testing.T) {
	s := Limits{Each: 1, Total: 1}
	if !s.room(new(queue), 0) || !s.retry(new(queue), 0) {
		t.Error("with one slot nothing may start")
	}
	if s.room(new(queue), 1) || s.room(&queue{retries: 1}, 1) {
		t.Error("with one slot two may start")
	}
}

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
			if high, low := speedOf(tt.slot, tt.size).marks(tt.n, 64, fetchWait); high != tt.high || low != tt.low {
				t.Errorf("high %d and low %d, expected %d and %d", high, low, tt.high, tt.low)
			}
		})
	}
}

func speedOf(slot time.Duration, size int) *speed {
	s := new(speed)
	if slot > 0 {
		s.note(slot, size)
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
		high, low := speedOf(slot, size).marks(n, each, fetchWait)
		faster, _ := speedOf(slot/2+1, size).marks(n, each, fetchWait)
		larger, _ := speedOf(slot, 2*size).marks(n, each, fetchWait)
		more, _ := speedOf(slot, size).marks(n, 2*each, fetchWait)
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
		s.note(10*time.Millisecond, 2000)
	}
	if s.slot < 0.35 || s.slot > 0.4 || s.size < 1600 || s.size > 1660 {
		t.Errorf("%.3f s and %.0f bytes after sixteen attempts, expected about 0.37 and 1640", s.slot, s.size)
	}
}

// TestADestinationEarnsItsSlots: what hangs from the start never gets more than the
// first few.
func TestADestinationEarnsItsSlots(t *testing.T) {
	s := Limits{Each: 4, Total: 100, First: 1}
	f := newFloor(t, s)
	f.own("crm", 0)
	f.give("crm", 0, 0, "a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "i1")
	f.expect("a1")
	f.finishAs("a1", Ended{Finished: true})
	f.expect("b1")
	f.finishAs("b1", Ended{Finished: true, Delivered: true})
	f.expect("c1", "d1")
	f.finishAs("c1", Ended{Finished: true, Delivered: true})
	f.finishAs("d1", Ended{Finished: true, Delivered: true})
	f.expect("e1", "f1", "g1", "h1") // not a fifth
	f.finishAs("e1", Ended{Finished: true})
	f.expect("f1", "g1", "h1", "i1") // a failure costs nothing
}
