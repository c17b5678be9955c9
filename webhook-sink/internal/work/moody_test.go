package work

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// mood is a receiver that is alive and fails many events.
type mood struct {
	name  string
	every time.Duration // an event is written
	fails func(event, try int, r *rand.Rand) bool
	owed  func(event int) bool // it is to be delivered; nil: each is
	// What is allowed: events that are dead, and the time of the slowest tenth.
	dead int
	p90  time.Duration
}

// TestReceiversThatAreMoody: a breaker is for endpoints that are down. One that
// dislikes some events, or each of them at first, gets them all the same, and about
// as fast as if there were no breaker.
func TestReceiversThatAreMoody(t *testing.T) {
	t.Parallel()
	first := func(n int) func(int, int, *rand.Rand) bool {
		return func(_, try int, _ *rand.Rand) bool { return try <= n }
	}
	fifth := func(event int) bool { return event%5 != 0 }
	for _, m := range []mood{
		{name: "the first try of each fails, ten events a second", every: 100 * time.Millisecond, fails: first(1), p90: 10 * time.Second},
		{name: "the first two fail, one a second", every: time.Second, fails: first(2), p90: time.Minute},
		{name: "the first three fail, one a second", every: time.Second, fails: first(3), p90: 10 * time.Minute},
		{
			name: "four tries of five fail", every: time.Second, dead: 30, p90: 3 * time.Hour,
			fails: func(_, _ int, r *rand.Rand) bool { return r.IntN(5) > 0 },
		},
		{
			name: "one event of five always fails", every: time.Second, p90: time.Second, owed: fifth,
			fails: func(event, _ int, _ *rand.Rand) bool { return !fifth(event) },
		},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, m.play)
		})
	}
}

func (m mood) play(t *testing.T) {
	const events = 600
	g := newSimGroup(simPlan{destinations: map[string]int{"crm": 1}, partitions: 6, retryPartitions: 6, commitEvery: time.Second})
	r := rand.New(rand.NewPCG(1, 2))
	tries := make(map[int]int)
	var mu sync.Mutex
	g.net.answer = func(_ string, event int, _ time.Time) simAnswer {
		mu.Lock()
		defer mu.Unlock()
		tries[event]++
		if m.fails(event, tries[event], r) {
			return responds(10*time.Millisecond, 503)
		}
		return responds(10*time.Millisecond, 200)
	}
	g.join(0)
	for range events {
		g.produce("crm", "user")
		virtual.Sleep(m.every)
	}
	virtual.Sleep(4*time.Hour + 10*time.Minute)
	g.close(t)
	var took []time.Duration
	dead := 0
	for i := range g.books.events {
		switch e := &g.books.events[i]; {
		case m.owed != nil && !m.owed(i):
		case e.taken == 0:
			dead++
		default:
			took = append(took, e.delivered.Sub(e.created))
		}
	}
	slices.Sort(took)
	p90 := took[len(took)*9/10]
	t.Logf("%d delivered, %d dead, p90 %s", len(took), dead, p90)
	if dead > m.dead || p90 > m.p90 {
		t.Errorf("%d dead and a p90 of %s, expected at most %d and %s", dead, p90, m.dead, m.p90)
	}
}
