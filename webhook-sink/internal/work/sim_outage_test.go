package work

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// full makes outages as large as those that they stand for. Ordinary runs make
// them a tenth of that, those with the race detector a fiftieth.
var full = flag.Bool("sim.full", false, "simulate outages at full size")

// outage is one destination that gets events at a steady rate, of which some fail.
type outage struct {
	name    string
	rate    float64                  // events a second, at full size
	service time.Duration            // of the receiver
	down    func(time.Duration) bool // since the start
	hangs   bool                     // while down it takes the timeout to fail, instead of refusing connections
	busy    func(time.Duration) bool // then it takes busyTime, and answers 503 to three of four requests
	until   time.Duration            // events come until then
	members int
}

// toll is what an outage was like.
type toll struct {
	events, dead, lost, twice int
	late                      int // events that died without an attempt in their last half hour
	meanWrites                float64
	maxWrites                 int
	attempts, maxAttempts     int // made
	requests                  int // at the receiver, refused connections too
	reserved                  int // events that were given a slot in the future
	firstSecond               int // requests in the first second after any of its returns
	freshP99                  time.Duration
	drained                   time.Duration // from the receiver's return to the last delivery of what failed before
	took                      time.Duration // in real time
}

func (o *toll) String() string {
	return fmt.Sprintf("%7d events  %5d dead  %3d late  writes mean %4.1f max %2d  attempts %6d max %2d  requests %6d  reserved %6d  first second %3d  fresh p99 %6s  drained %9s  took %s",
		o.events, o.dead, o.late, o.meanWrites, o.maxWrites, o.attempts, o.maxAttempts, o.requests, o.reserved, o.firstSecond,
		o.freshP99.Round(time.Millisecond), o.drained.Round(time.Millisecond), o.took.Round(time.Millisecond))
}

// calm is what comes before whatever happens to a receiver.
const calm = time.Minute

// during is true for a time after the calm.
func during(d time.Duration) func(time.Duration) bool {
	return func(at time.Duration) bool { return at >= calm && at < calm+d }
}

// smaller is how much smaller outages are than at full size.
func smaller() int {
	switch {
	case *full:
		return 1
	case slowly:
		return 50
	default:
		return 10
	}
}

func (o *outage) scaled() float64 { return o.rate / float64(smaller()) }

// play simulates the outage until nothing of it is left.
func (o *outage) play(t *testing.T) (r toll) {
	t.Helper()
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		g := newSimGroup(simPlan{destinations: map[string]int{"crm": 1}, partitions: 6, retryPartitions: 6, commitEvery: time.Second})
		start := time.Now()
		g.net.answer = o.receiver(start)
		if !o.hangs && o.down != nil {
			g.net.refuses = func(_ string, now time.Time) bool { return o.down(now.Sub(start)) }
		}
		for range max(o.members, 1) {
			g.join(0)
		}
		o.feed(g, start)
		for g.books.running() > 0 && time.Since(start) < o.until+5*time.Hour {
			virtual.Sleep(time.Second)
		}
		g.close(t)
		r = o.sum(g, start)
	})
	r.took = time.Since(began)
	return r
}

func (o *outage) receiver(start time.Time) simReceiver {
	var requests atomic.Int64
	return func(_ string, _ int, now time.Time) simAnswer {
		since := now.Sub(start)
		switch {
		case o.down != nil && o.down(since):
			return hangs
		case o.busy == nil || !o.busy(since):
			return responds(o.service, 200)
		case requests.Add(1)%4 == 0:
			return responds(o.busyTime(), 200)
		default:
			return responds(o.busyTime(), 503)
		}
	}
}

// busyTime is what a busy receiver takes: by it alone it can do fewer requests than
// come.
func (o *outage) busyTime() time.Duration {
	return min(time.Duration(smaller())*400*time.Millisecond, 4*time.Second)
}

func (o *outage) feed(g *simGroup, start time.Time) {
	random := rand.New(rand.NewPCG(1, 2))
	gap := time.Duration(float64(time.Second) / o.scaled())
	for at := time.Duration(0); at < o.until; at += gap {
		virtual.Sleep(time.Until(start.Add(at)))
		g.produce("crm", fmt.Sprintf("user-%d", random.IntN(1000)))
	}
}

// back is when the receiver is well for good.
func (o *outage) back() time.Duration {
	back := time.Duration(0)
	for at := time.Duration(0); at < o.until; at += time.Second {
		if o.down != nil && o.down(at) || o.busy != nil && o.busy(at) {
			back = at + time.Second
		}
	}
	return back
}

func (o *outage) sum(g *simGroup, start time.Time) toll {
	r := toll{events: len(g.books.events)}
	host := g.books.host(simHost("crm", 0))
	r.requests = host.posts + host.refused
	if len(host.firsts) > 1 { // the first return is no return
		r.firstSecond = slices.Max(host.firsts[1:])
	}
	var noticed time.Time // by all members
	for _, at := range g.books.noticed {
		if at.After(noticed) {
			noticed = at
		}
	}
	back := start.Add(o.back())
	var fresh []time.Duration
	for i := range g.books.events {
		e := &g.books.events[i]
		r.add(e, g.window)
		if e.taken > 0 && e.created.Before(back) {
			r.drained = max(r.drained, e.delivered.Sub(back))
		}
		if e.taken > 0 && e.created.After(noticed) && e.created.After(back) {
			fresh = append(fresh, e.delivered.Sub(e.created))
		}
	}
	r.meanWrites /= float64(r.events)
	if len(fresh) > 0 {
		slices.Sort(fresh)
		r.freshP99 = fresh[len(fresh)*99/100]
	}
	return r
}

func (o *toll) add(e *simEvent, window time.Duration) {
	o.meanWrites += float64(e.writes)
	o.maxWrites, o.maxAttempts = max(o.maxWrites, e.writes), max(o.maxAttempts, e.attempts)
	o.attempts += e.attempts
	if e.reserved {
		o.reserved++
	}
	switch {
	case e.taken+e.dead == 0:
		o.lost++
	case e.taken+e.dead > 1:
		o.twice++
	}
	if e.dead == 0 {
		return
	}
	o.dead++
	if e.begun.Add(window).Sub(e.tried) > 30*time.Minute {
		o.late++
	}
}
