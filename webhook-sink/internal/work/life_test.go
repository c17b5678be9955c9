package work

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

var (
	lives    = flag.Int("sim.lives", 1000, "lives to simulate")
	lifeSeed = flag.Uint64("sim.seed", 0, "simulate the life of this seed alone")
)

// TestLives simulates what may become of a few events in all the hours that they
// may take: random schedules, receivers that fail in random ways, sinks that are
// stopped, killed and joined by others, and clocks that are wrong. It judges what
// each event was owed.
//
// A seed fixes the plan of a life. Which goroutine comes first in a moment is not
// in it.
func TestLives(t *testing.T) {
	if *lifeSeed != 0 {
		sums := &lifeSums{}
		playLife(t, *lifeSeed, sums)
		t.Log(sums)
		return
	}
	began := time.Now()
	seeds, workers := *lives, runtime.GOMAXPROCS(0)
	if slowly {
		seeds = min(seeds, 100)
	}
	all := make([]lifeSums, workers)
	t.Run("seeds", func(t *testing.T) {
		for w := range workers {
			t.Run(strconv.Itoa(w), func(t *testing.T) {
				t.Parallel()
				for seed := 1 + w; seed <= seeds; seed += workers {
					playLife(t, uint64(seed), &all[w])
				}
			})
		}
	})
	var sums lifeSums
	for i := range all {
		sums.add(&all[i])
	}
	t.Logf("%s in %s", &sums, time.Since(began).Round(time.Millisecond))
	if seeds >= 1000 {
		sums.check(t)
	} else {
		sums.checkJitter(t)
	}
}

// playLife plays the life of a seed and judges it.
func playLife(t *testing.T, seed uint64, sums *lifeSums) {
	t.Helper()
	l := newLife(seed)
	synctest.Test(t, func(t *testing.T) {
		l.play(t)
		l.check(t, sums)
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, l)
		}
	})
}

func (l *life) play(t *testing.T) {
	t.Helper()
	g := newSimGroup(l.plan)
	l.group, l.start = g, time.Now()
	g.broker.gap, g.books.keepAll = l.gap, true
	g.net.refuses, g.net.answer = l.refuses, l.answer
	for _, skew := range l.skews {
		g.join(skew)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range l.events {
			e := &l.events[i]
			virtual.Sleep(time.Until(l.start.Add(e.at)))
			e.number = g.produce(e.destination, e.key)
		}
	}()
	for _, d := range l.disturbances {
		virtual.Sleep(time.Until(l.start.Add(d.at)))
		l.disturb(d)
	}
	<-done
	// A minute for each hop that a clock may have caused.
	limit := l.start.Add(l.plan.window + l.events[len(l.events)-1].at + 2*time.Hour)
	for g.broker.left() > 0 && time.Now().Before(limit) {
		virtual.Sleep(time.Minute)
	}
	virtual.Sleep(time.Minute)
	g.close(t)
}

// disturb does something to the group.
func (l *life) disturb(d disturbance) {
	g := l.group
	victim := g.members[d.member%len(g.members)]
	switch d.kind {
	case restarts:
		victim.stop()
		g.leave(victim)
		virtual.Sleep(d.length)
		g.join(d.skew)
	case killed:
		victim.kill()
		virtual.Sleep(simSession)
		g.leave(victim)
		virtual.Sleep(d.length)
		g.join(d.skew)
	case joins:
		g.join(d.skew)
	case leaves:
		if len(g.members) > 1 {
			victim.stop()
			g.leave(victim)
		}
	case writeless:
		g.writesFail.Store(true)
		time.AfterFunc(d.length, func() { g.writesFail.Store(false) })
	}
}
