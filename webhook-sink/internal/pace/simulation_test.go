package pace

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// scene is an outage and what follows it. Numbers are the receiver's and the
// sink's, not the pace's.
type scene struct {
	fresh   int           // events a second, before, during and after
	outage  time.Duration // during which every attempt is withheld
	waiting int           // retries that the outage leaves
	within  time.Duration // after the recovery, in which they come back, evenly
	slots   int
	service time.Duration // of the receiver, on average; attempts take half to three halves of it
	later   time.Duration // the same from a minute after the recovery on; zero: no change
}

// result is what the scene came to, counted from the recovery.
type result struct {
	started      int // of the retries
	last         time.Duration
	firstSecond  int // attempts that the receiver saw, fresh ones too
	inFlight     int // at most
	reservations int
	again        int           // of those, of retries that had one
	late         time.Duration // of a reserved start behind its moment, at most
	room         int           // retries in memory at most
}

const (
	// Nothing but fresh events happens before the recovery.
	tickBefore = 50 * time.Millisecond
	tick       = 2 * time.Millisecond
	// An attempt that was withheld is reported when its retry record has been
	// written. Others may have been delivered in between.
	lag   = 50 * time.Millisecond
	limit = 1000 // retries in memory
)

// retried is a retry that waits on a topic or in memory.
type retried struct {
	due      time.Time
	reserved bool
}

// stage plays a scene as the dispatcher would: what is due starts if it may, else
// it waits in memory if there is room, else it goes back to a topic with a
// reservation.
type stage struct {
	scene
	result
	p        *Pace
	random   *rand.Rand
	recovery time.Time
	now      time.Time

	first, second []retried   // on topics, by due time: as the outage left them, and reserved
	memory        []retried   // in line for a start
	ends          []time.Time // of attempts of retries in flight
	arrived       float64
}

func play(s scene) result {
	recovery := start.Add(5*time.Minute + s.outage)
	st := &stage{scene: s, p: New(5 * time.Second), random: rand.New(rand.NewPCG(1, 4)), recovery: recovery, now: start}
	for i := range s.waiting {
		due := recovery.Add(time.Duration(float64(s.within) * float64(i) / float64(s.waiting)))
		st.first = append(st.first, retried{due: due})
	}
	for st.now.Before(recovery.Add(20*time.Minute)) && st.started < s.waiting {
		if st.down(st.now.Add(-lag)) {
			st.p.Withheld(st.now)
		}
		st.freshEvents()
		st.land()
		st.dueRetries()
		st.startFromMemory()
		if st.now.Before(recovery) {
			st.now = st.now.Add(tickBefore)
			continue
		}
		st.now = st.now.Add(tick)
	}
	return st.result
}

func (st *stage) down(now time.Time) bool {
	return now.Before(st.recovery) && now.After(st.recovery.Add(-st.outage))
}

func (st *stage) took() time.Duration {
	mean := st.service
	if st.later > 0 && st.now.Sub(st.recovery) > time.Minute {
		mean = st.later
	}
	return time.Duration(float64(mean) * (0.5 + st.random.Float64()))
}

// freshEvents are fetched four times a second. Their slots are never short here,
// so their attempts end at once.
func (st *stage) freshEvents() {
	if st.now.Sub(start)%(250*time.Millisecond) != 0 {
		return
	}
	st.arrived += float64(st.fresh) / 4
	n := int(st.arrived)
	st.arrived -= float64(n)
	st.p.Arrived(n, st.now)
	for range n {
		if st.down(st.now) {
			continue
		}
		st.p.Answered(st.took(), st.now)
		st.seen()
	}
}

// seen counts an attempt that reaches the receiver.
func (st *stage) seen() {
	if after := st.now.Sub(st.recovery); after >= 0 && after < time.Second {
		st.firstSecond++
	}
}

func (st *stage) land() {
	flying := st.ends[:0]
	for _, end := range st.ends {
		if end.After(st.now) {
			flying = append(flying, end)
			continue
		}
		st.p.Answered(st.took(), st.now)
	}
	st.ends = flying
}

func (st *stage) dueRetries() {
	for _, topic := range []*[]retried{&st.second, &st.first} {
		for len(*topic) > 0 && !(*topic)[0].due.After(st.now) {
			st.meet((*topic)[0])
			*topic = (*topic)[1:]
		}
	}
}

// meet finds a place for a retry that is due. One with a reservation waits in any
// case but the last: the room is for those that have none.
func (st *stage) meet(r retried) {
	room := st.p.Room(st.now, st.slots, limit)
	if r.reserved {
		room = limit
	}
	if len(st.memory) < room {
		st.memory = append(st.memory, r)
		st.room = max(st.room, len(st.memory))
		return
	}
	st.reservations++
	if r.reserved {
		st.again++
	}
	st.second = append(st.second, retried{st.p.Reserve(st.now, st.slots), true})
}

func (st *stage) startFromMemory() {
	for len(st.memory) > 0 && len(st.ends) < st.slots {
		if ok, _ := st.p.Take(st.now, st.slots); !ok {
			return
		}
		r := st.memory[0]
		st.memory = st.memory[1:]
		if r.reserved {
			st.late = max(st.late, st.now.Sub(r.due))
		}
		st.started++
		st.seen()
		st.last = st.now.Sub(st.recovery)
		st.ends = append(st.ends, st.now.Add(st.took()))
		st.inFlight = max(st.inFlight, len(st.ends))
	}
}

func TestRecovery(t *testing.T) {
	usual := scene{
		fresh: 55, outage: 30 * time.Minute, waiting: 100_000, within: 11 * time.Minute,
		slots: 32, service: 20 * time.Millisecond,
	}
	with := func(change func(*scene)) scene {
		s := usual
		change(&s)
		return s
	}
	for _, test := range []struct {
		name string
		scene
		again int // reservations that are not a retry's first
	}{
		{"as in the design", usual, 0},
		{"all come back within a second", with(func(s *scene) { s.within = time.Second }), 0},
		{"all come back within five minutes", with(func(s *scene) { s.within = 5 * time.Minute }), 0},
		{"a receiver that is hardly fast enough", with(func(s *scene) { s.service = 200 * time.Millisecond }), 0},
		{"hardly fast enough, and all at once", with(func(s *scene) { s.service, s.within = 200*time.Millisecond, time.Second }), 0},
		{"one slot", with(func(s *scene) { s.slots, s.waiting = 1, 30_000 }), 0},
		// All are reserved by the rate of the first minute, eight times too high.
		{"slows down in the middle", with(func(s *scene) { s.later, s.within = 160*time.Millisecond, time.Second }), 100_000},
		{"gets faster in the middle", with(func(s *scene) { s.service, s.later = 160*time.Millisecond, 20*time.Millisecond }), 0},
		{"a thousand a second", with(func(s *scene) { s.fresh = 1000 }), 0},
		{"hardly any fresh events", with(func(s *scene) { s.fresh = 12 }), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := play(test.scene)
			t.Logf("%+v", r)
			if r.started != test.waiting || r.last > 15*time.Minute {
				t.Errorf("%d of %d retries have started after %s, expected all within 15m", r.started, test.waiting, r.last)
			}
			if most := int(math.Ceil(1.2 * float64(test.fresh))); r.firstSecond > most {
				t.Errorf("the first second sees %d attempts, expected at most %d", r.firstSecond, most)
			}
			if r.inFlight > test.slots {
				t.Errorf("%d retries in flight, expected at most %d", r.inFlight, test.slots)
			}
			if r.again > test.again {
				t.Errorf("%d reservations by retries that had one, expected at most %d", r.again, test.again)
			}
		})
	}
}
