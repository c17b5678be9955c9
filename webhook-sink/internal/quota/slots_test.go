package quota

import "testing"

// hang lets n destinations take as many slots as they are given.
func hang(s Limits, n int) []*Slots {
	queues := make([]*Slots, n)
	for i := range queues {
		queues[i] = new(Slots)
	}
	inFlight := 0
	for moved := true; moved; {
		moved = false
		for _, q := range queues {
			if s.Room(q, inFlight) {
				q.Firsts++
				inFlight++
				moved = true
			}
		}
	}
	return queues
}

func sum(queues []*Slots) int {
	total := 0
	for _, q := range queues {
		total += q.InFlight()
	}
	return total
}

func TestThereIsAlwaysRoomForOneMore(t *testing.T) {
	s := Limits{Each: 64, Total: 1024}
	for _, n := range []int{1, 15, 16, 17, 50, 200, 500} {
		hung := hang(s, n)
		if fresh := new(Slots); !s.Room(fresh, sum(hung)) || !s.Retry(fresh, sum(hung)) {
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
			if q.Firsts < tt.each || q.Firsts > tt.each+1 {
				t.Errorf("of %d that hang one has %d in flight, expected about %d", tt.hung, q.Firsts, tt.each)
			}
		}
	}
}

func TestRetriesTakeHalfOfTheSlots(t *testing.T) {
	s := Limits{Each: 64, Total: 1024}
	if !s.Retry(&Slots{Retries: 31}, 31) || !s.Retry(&Slots{Firsts: 63}, 63) {
		t.Error("there are slots, and a retry may not start")
	}
	if s.Retry(&Slots{Retries: 32}, 32) {
		t.Error("retries took more than half of the slots")
	}
	if !s.Room(&Slots{Retries: 32}, 32) {
		t.Error("retries left no slot for fresh events")
	}
	if s.Retry(&Slots{Firsts: 56, Retries: 8}, 64) {
		t.Error("more attempts in flight than the destination's limit")
	}
}

func TestTheSmallestLimitsStillWork(t *testing.T) {
	s := Limits{Each: 1, Total: 1}
	if !s.Room(new(Slots), 0) || !s.Retry(new(Slots), 0) {
		t.Error("with one slot nothing may start")
	}
	if s.Room(new(Slots), 1) || s.Room(&Slots{Retries: 1}, 1) {
		t.Error("with one slot two may start")
	}
}
