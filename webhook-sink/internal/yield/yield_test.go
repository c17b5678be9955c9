package yield

import (
	"math/rand/v2"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// receiver is one that a replay and live events share; took is how long an attempt takes
// beside so many of the replay.
type receiver struct {
	y    Yield
	now  time.Time
	took func(replays int) time.Duration
}

// run has the replay fill its room for a time, with a live event after each of its rounds.
func (r *receiver) run(length time.Duration) {
	for end := r.now.Add(length); r.now.Before(end); {
		room, longest := r.y.Room(), time.Duration(0)
		all := make([]time.Duration, room)
		for i := range all {
			all[i] = r.took(room)
			longest = max(longest, all[i])
		}
		r.now = r.now.Add(longest)
		for _, took := range all {
			r.y.Delivered(true, room > 1, took, r.now)
		}
		r.y.Delivered(false, true, r.took(room+1), r.now)
		rest := r.y.Rest(longest)
		if r.now = r.now.Add(rest); rest > 0 {
			r.y.Delivered(false, false, r.took(0), r.now)
		}
	}
}

func newReceiver(took func(replays int) time.Duration) *receiver {
	r := &receiver{now: start, took: took}
	for range memory {
		r.y.Delivered(false, false, took(0), start)
	}
	return r
}

// workers is a receiver that works on n requests at a time.
func workers(n int) func(int) time.Duration {
	return func(replays int) time.Duration {
		return 50 * time.Millisecond * time.Duration(max(replays, n)) / time.Duration(n)
	}
}

// TestRoomFollowsTheReceiver: up to what it works on at a time, and no further.
func TestRoomFollowsTheReceiver(t *testing.T) {
	t.Parallel()
	r := newReceiver(workers(1 << 20))
	r.run(time.Minute)
	if room := r.y.Room(); room != most {
		t.Errorf("room for %d at a receiver without a limit", room)
	}
	r = newReceiver(workers(8))
	for range 60 {
		r.run(time.Minute)
		if room := r.y.Room(); room < 3 || room > 9 {
			t.Fatalf("room for %d at one of eight workers", room)
		}
	}
	r = newReceiver(workers(1))
	r.run(5 * time.Minute)
	if rest := r.y.Rest(time.Second); r.y.Room() != 1 || rest <= 0 || rest > 7*time.Second {
		t.Errorf("room for %d and a rest of %s at one of a single worker", r.y.Room(), rest)
	}
}

// TestAReceiverThatChanges: one that gets slower for another reason is the usual one soon,
// and one that gets quicker at once.
func TestAReceiverThatChanges(t *testing.T) {
	t.Parallel()
	service := 50 * time.Millisecond
	r := newReceiver(func(int) time.Duration { return service })
	r.run(time.Minute)
	service = 200 * time.Millisecond
	r.run(10 * time.Second)
	if room := r.y.allowed(); room > most/2 {
		t.Errorf("room for %v beside attempts that take four times as long", room)
	}
	r.run(time.Hour)
	if room := r.y.Room(); room < 100 {
		t.Errorf("room for %d an hour after the receiver got slower", room)
	}
	service = 20 * time.Millisecond
	r.run(time.Minute)
	if usual := r.y.live.usual; usual > 0.021 {
		t.Errorf("%v s are usual at a receiver that takes 20 ms now", usual)
	}
}

// TestTimesThatDifferAreNoAlarm where a replay has no part in it.
func TestTimesThatDifferAreNoAlarm(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	r := newReceiver(func(int) time.Duration { return time.Duration(random.ExpFloat64() * float64(50*time.Millisecond)) })
	low := 0
	for range 100 {
		if r.run(10 * time.Second); r.y.Room() < 16 {
			low++
		}
	}
	if low > 20 {
		t.Errorf("room for less than 16 at %d of 100 looks", low)
	}
}

// TestAMomentOfStandstillIsNoAlarm: now and then all that is in flight takes very long, at 500
// events a second and as many of a replay.
func TestAMomentOfStandstillIsNoAlarm(t *testing.T) {
	t.Parallel()
	const every, still = 7 * time.Second, 60 * time.Millisecond
	r := newReceiver(func(int) time.Duration { return time.Millisecond })
	low := 0
	for range 1000 {
		for range 500 {
			r.now = r.now.Add(2 * time.Millisecond)
			took := max(time.Millisecond, still-r.now.Sub(start)%every)
			r.y.Delivered(true, true, took, r.now)
			r.y.Delivered(false, true, took, r.now)
		}
		if r.y.Room() < most/2 {
			low++
		}
	}
	if low > 100 {
		t.Errorf("room for less than %d at %d of 1000 looks", most/2, low)
	}
}

// TestRoomHasBounds, whatever is said of attempts.
func TestRoomHasBounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		var y Yield
		now := start
		for range 5000 {
			now = now.Add(time.Duration(random.Int64N(int64(200 * time.Millisecond))))
			took := time.Duration(random.Int64N(1 << random.IntN(34)))
			y.Delivered(random.IntN(3) > 0, random.IntN(2) > 0, took, now)
			if room := y.allowed(); room < least || room > most || y.Room() < 1 {
				t.Fatalf("seed %d: room for %v", seed, room)
			}
			if rest := y.Rest(took); rest < 0 || rest > 7*took {
				t.Fatalf("seed %d: %s of rest after %s", seed, rest, took)
			}
			if y.hold > longestHold || y.lifted.Sub(now) > longestHold {
				t.Fatalf("seed %d: held for %s, until %s ahead", seed, y.hold, y.lifted.Sub(now))
			}
		}
	}
}
