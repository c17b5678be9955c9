package webhooksink

import "testing"

// hang lets n destinations take as many slots as they are given.
func hang(s shares, n int) []*queue {
	queues := make([]*queue, n)
	for i := range queues {
		queues[i] = new(queue)
	}
	inFlight := 0
	for moved := true; moved; {
		moved = false
		for _, q := range queues {
			if s.first(q, inFlight) {
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
	s := shares{each: 64, total: 1024}
	for _, n := range []int{1, 15, 16, 17, 50, 200, 500} {
		hung := hang(s, n)
		if fresh := new(queue); !s.first(fresh, sum(hung)) || !s.retry(fresh, sum(hung)) {
			t.Errorf("%d destinations hang with %d attempts in flight, and another may not start one", n, sum(hung))
		}
	}
}

func TestSharesOfDestinationsThatHang(t *testing.T) {
	s := shares{each: 64, total: 1024}
	tests := []struct{ hung, each int }{
		{1, 56},  // its own limit, less an eighth for retries
		{16, 56}, // 16 × 56 leave 128
		{50, 20}, // 1024 / 51
		{200, 5}, // 1024 / 201
	}
	for _, tt := range tests {
		for _, q := range hang(s, tt.hung) {
			if q.firsts < tt.each || q.firsts > tt.each+1 {
				t.Errorf("of %d that hang one has %d in flight, expected about %d", tt.hung, q.firsts, tt.each)
			}
		}
	}
}

func TestSharesBetweenFirstAttemptsAndRetries(t *testing.T) {
	s := shares{each: 64, total: 1024}
	if !s.retry(&queue{firsts: 56}, 56) {
		t.Error("fresh events took all slots, expected some to be left for retries")
	}
	if s.retry(&queue{retries: 32}, 32) {
		t.Error("retries took more than half of the slots")
	}
	if !s.first(&queue{retries: 32}, 32) {
		t.Error("retries left no slot for fresh events")
	}
	if s.retry(&queue{firsts: 56, retries: 8}, 64) {
		t.Error("more attempts in flight than the destination's limit")
	}
}

func TestTheSmallestLimitsStillWork(t *testing.T) {
	s := shares{each: 1, total: 1}
	if !s.first(new(queue), 0) || !s.retry(new(queue), 0) {
		t.Error("with one slot nothing may start")
	}
	if s.first(new(queue), 1) || s.first(&queue{retries: 1}, 1) {
		t.Error("with one slot two may start")
	}
}

func TestMarks(t *testing.T) {
	tests := []struct{ queues, high int }{
		{0, 4 << 20},
		{1, 4 << 20},
		{32, 4 << 20},
		{64, 2 << 20},
		{1000, 134_217},
		{100_000, 128 << 10},
	}
	for _, tt := range tests {
		if high, low := marks(tt.queues); high != tt.high || low != tt.high/2 {
			t.Errorf("marks(%d) = %d, %d; expected %d and half of it", tt.queues, high, low, tt.high)
		}
	}
}
