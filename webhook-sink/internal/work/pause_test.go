package work

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// interlude is a random life of two destinations, of which crm is paused now and then and
// fails now and then, and calm neither.
type interlude struct {
	random *rand.Rand
	group  *simGroup
	start  time.Time
	pauses []span // of crm, the last one over
	fails  []span // of crm
	live   map[string][]int
	paused time.Duration // the longest pause
}

type span struct{ from, to time.Time }

func (s span) holds(at time.Time) bool { return at.After(s.from) && at.Before(s.to) }

// TestPauses: whatever is paused for however long, each event is delivered once, none is given
// up on account of it, nothing is sent meanwhile, and nobody else waits for it.
func TestPauses(t *testing.T) {
	t.Parallel()
	seeds := uint64(60)
	if slowly {
		seeds = 10
	}
	held, long, most := 0, 0, 0
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			i := newInterlude(seed)
			i.play(t)
			h, m := i.check(t)
			held, most = held+h, max(most, m)
			if i.paused > 4*time.Hour {
				long++
			}
			if t.Failed() {
				t.Fatalf("seed %d: pauses %v, failures %v", seed, i.pauses, i.fails)
			}
		})
	}
	t.Logf("%d events waited for the end of a pause, %d pauses were longer than the window, %d writes for one event at most", held, long, most)
	// A few lives need not have one that is paused for so long.
	if held < 3*int(seeds) || !slowly && long < 3 {
		t.Errorf("%d events waited for the end of a pause, %d pauses were longer than the window; expected many", held, long)
	}
}

func newInterlude(seed uint64) *interlude {
	i := &interlude{random: rand.New(rand.NewPCG(seed, 21)), live: make(map[string][]int)}
	i.group = newSimGroup(simPlan{destinations: map[string]int{"crm": 1, "calm": 1}, partitions: 2, retryPartitions: 2, commitEvery: time.Second, replays: true})
	i.group.books.keepAll = true
	i.start = time.Now()
	for range i.random.IntN(3) {
		from := i.start.Add(i.upTo(time.Hour))
		i.fails = append(i.fails, span{from, from.Add(i.upTo(40 * time.Minute))})
	}
	i.group.net.answer = func(host string, _ int, now time.Time) simAnswer {
		for _, f := range i.fails {
			if host == simHost("crm", 0) && f.holds(now) {
				return responds(20*time.Millisecond, http.StatusServiceUnavailable)
			}
		}
		return responds(20*time.Millisecond, http.StatusOK)
	}
	return i
}

func (i *interlude) upTo(d time.Duration) time.Duration {
	return time.Duration(i.random.Int64N(int64(d)))
}

func (i *interlude) play(t *testing.T) {
	t.Helper()
	g := i.group
	for range 1 + i.random.IntN(2) {
		g.join(0)
	}
	for range 1 + i.random.IntN(3) {
		i.traffic(10 + i.random.IntN(20))
		i.pause()
	}
	i.traffic(10)
	for limit := time.Now().Add(5 * time.Hour); g.broker.left() > 0 && time.Now().Before(limit); {
		virtual.Sleep(time.Minute)
	}
	virtual.Sleep(time.Minute)
	g.close(t)
}

// traffic writes events over some minutes, bursts of one user among them.
func (i *interlude) traffic(events int) {
	for range events {
		virtual.Sleep(i.upTo(30 * time.Second))
		for range 1 + i.random.IntN(4) {
			key := "user-" + strconv.Itoa(i.random.IntN(4))
			i.live["crm"] = append(i.live["crm"], i.group.produce("crm", key))
			i.live["calm"] = append(i.live["calm"], i.group.produce("calm", key))
		}
		if i.random.IntN(4) == 0 {
			i.live["crm"] = append(i.live["crm"], i.group.replay("crm", "user-0"))
		}
	}
}

// pause lasts from a moment to most of a day. Sinks come and go in it.
func (i *interlude) pause() {
	g := i.group
	p := span{from: time.Now()}
	g.pause("crm")
	i.traffic(i.random.IntN(10))
	if i.random.IntN(2) == 0 {
		victim := g.members[i.random.IntN(len(g.members))]
		victim.stop()
		g.leave(victim)
		g.join(0)
	}
	virtual.Sleep(i.upTo(time.Second << i.random.IntN(17)))
	p.to = time.Now()
	g.pause()
	i.pauses = append(i.pauses, p)
	i.paused = max(i.paused, p.to.Sub(p.from))
}

// check returns how many events waited for the end of a pause, and how often one was written at
// most.
func (i *interlude) check(t *testing.T) (held, mostWrites int) {
	t.Helper()
	g := i.group
	g.books.mu.Lock()
	defer g.books.mu.Unlock()
	for _, n := range append(i.live["calm"], i.live["crm"]...) {
		if e := &g.books.events[n]; e.taken != 1 || e.dead != 0 {
			t.Errorf("event %d was delivered %d times, and %d times a dead letter (%s)", n, e.taken, e.dead, e.reason)
		}
	}
	for _, n := range i.live["calm"] {
		if e := &g.books.events[n]; e.delivered.Sub(e.created) > time.Second {
			t.Errorf("event %d of the other destination was delivered after %s", n, e.delivered.Sub(e.created))
		}
	}
	for _, n := range i.live["crm"] {
		e := &g.books.events[n]
		mostWrites = max(mostWrites, e.writes)
		for _, p := range i.pauses {
			if attemptedIn(e, p) {
				t.Errorf("event %d was attempted in the pause that began at %s", n, p.from)
			}
			if p.holds(e.created) || e.created.Before(p.from) && e.delivered.After(p.to) {
				held++
			}
		}
	}
	if mostWrites > 120 {
		t.Errorf("%d writes for one event", mostWrites)
	}
	return held, mostWrites
}

// attemptedIn reports whether an event was attempted in a pause.
func attemptedIn(e *simEvent, p span) bool {
	return slices.ContainsFunc(e.log, func(a simAttempt) bool { return p.holds(a.began) && a.outcome.Verdict != outcome.Abandoned })
}
