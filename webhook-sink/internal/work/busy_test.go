package work

import (
	"fmt"
	"hash/fnv"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// crush is one destination with many users, of whom one may have more events than
// the receiver takes one at a time.
type crush struct {
	service time.Duration // of the receiver
	rate    int           // events a second of the others
	users   int
	busy    int // events a second of the one
	length  time.Duration
}

// crushOutcome is what a crush was like. The others are told apart by whether they share
// the busy user's partition.
type crushOutcome struct {
	events, lost, doubled, disordered int
	same, other                       []time.Duration // from an event's writing to its delivery, ascending
	busyTaken                         int             // of the busy user, until the end
	queued                            float64
	rereads                           int64
}

const busyUser = "service-account"

func crushPartition(user string) uint32 {
	hash := fnv.New32a()
	fmt.Fprint(hash, user)
	return hash.Sum32() % 6
}

func (c crush) play(t *testing.T) (r crushOutcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newSimGroup(simPlan{destinations: map[string]int{"crm": 1}, partitions: 6, commitEvery: time.Second})
		g.net.answer = func(string, int, time.Time) simAnswer { return responds(c.service, 200) }
		m := g.join(0)
		users := c.feed(g)
		r.busyTaken = c.sum(g, users, &r)
		r.queued, r.rereads = m.queued.Most(), m.rereads.Load()
		m.stop()
	})
	return r
}

// feed writes the events, and returns whose each is.
func (c crush) feed(g *simGroup) (users []string) {
	start := time.Now()
	other, busy := 0, 0
	for at := time.Duration(0); at < c.length; at += time.Millisecond {
		virtual.Sleep(time.Until(start.Add(at)))
		for ; time.Duration(other)*time.Second < at*time.Duration(c.rate); other++ {
			users = append(users, fmt.Sprint("user-", other*7919%c.users))
			g.produce("crm", users[len(users)-1])
		}
		for ; time.Duration(busy)*time.Second < at*time.Duration(c.busy); busy++ {
			users = append(users, busyUser)
			g.produce("crm", busyUser)
		}
	}
	virtual.Sleep(10*c.service + 10*time.Millisecond) // what is on its way arrives
	return users
}

func (c crush) sum(g *simGroup, users []string, r *crushOutcome) (busy int) {
	g.books.mu.Lock()
	defer g.books.mu.Unlock()
	r.events = len(users)
	last := make(map[string]time.Time)
	for i := range g.books.events {
		e, user := &g.books.events[i], users[i]
		switch {
		case e.taken > 1:
			r.doubled++
		case e.taken == 0 && user != busyUser:
			r.lost++
		}
		if e.taken == 0 {
			continue
		}
		if e.delivered.Before(last[user]) {
			r.disordered++
		}
		last[user] = e.delivered
		switch took := e.delivered.Sub(e.created); {
		case user == busyUser:
			busy++
		case crushPartition(user) == crushPartition(busyUser):
			r.same = append(r.same, took)
		default:
			r.other = append(r.other, took)
		}
	}
	slices.Sort(r.same)
	slices.Sort(r.other)
	return busy
}

func p99(sorted []time.Duration) time.Duration { return sorted[len(sorted)*99/100] }

// TestABusyUserHoldsUpNobodyElse: a user with twice as many events as its receiver
// takes one at a time has them wait, and nobody else's. That they wait on the brokers
// and not in memory is why it may go on.
func TestABusyUserHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		crush
	}{
		{"at 20 ms", crush{service: 20 * time.Millisecond, rate: 200, users: 500, busy: 100, length: 2 * time.Minute}},
		{"at 200 ms", crush{service: 200 * time.Millisecond, rate: 200, users: 500, busy: 100, length: 2 * time.Minute}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			switch {
			case *full:
				tt.length = time.Hour
			case slowly:
				tt.length = time.Minute
			}
			quiet := tt.crush
			quiet.busy = 0
			before, r := quiet.play(t), tt.play(t)
			t.Logf("undisturbed: p99 %s and %s; disturbed: p50 %s, p99 %s in other partitions, p50 %s, p99 %s in the same; busy user %d events; %.0f bytes at most; %d records read again of %d",
				p99(before.other), p99(before.same), r.other[len(r.other)/2], p99(r.other), r.same[len(r.same)/2], p99(r.same), r.busyTaken, r.queued, r.rereads, r.events)
			if p99(r.other) > p99(before.other)*5/4 || p99(r.same) > 2*p99(before.same) {
				t.Errorf("p99 %s in other partitions and %s in the same, expected at most 1.25 times %s and 2 times %s", p99(r.other), p99(r.same), p99(before.other), p99(before.same))
			}
			if r.lost > 0 || r.doubled > 0 || r.disordered > 0 {
				t.Errorf("%d events lost, %d delivered twice, %d before an earlier one of their user", r.lost, r.doubled, r.disordered)
			}
			if possible := int(tt.length / tt.service); r.busyTaken < possible*9/10 {
				t.Errorf("%d events of the busy user were delivered, expected at least nine tenths of %d", r.busyTaken, possible)
			}
			if r.queued > crowdBudget/4 {
				t.Errorf("%.0f bytes waited in memory", r.queued)
			}
		})
	}
}
