package work

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// crowd is many destinations, of which some hang.
type crowd struct {
	destinations int
	hanging      int
	backlog      int // events that wait at each of those from the start
	length       time.Duration
}

// crowdOutcome is what a crowd was like.
type crowdOutcome struct {
	p50, p99               time.Duration // of those that do not hang, from an event's writing to its delivery
	inFlight, queued, busy float64       // at most
	timeouts               int
}

// crowdBudget is what queues may hold; see package dispatch.
const crowdBudget = 32 << 20

func (c crowd) play(t *testing.T) (r crowdOutcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		plan := simPlan{destinations: make(map[string]int), retryPartitions: 6, commitEvery: time.Second}
		for i := range c.destinations {
			plan.destinations[c.id(i)] = 1
		}
		g := newSimGroup(plan)
		g.net.answer = func(host string, event int, now time.Time) simAnswer {
			if strings.HasPrefix(host, "dead") {
				return hangs
			}
			return responds(serviceTime(host, event), 200)
		}
		for i := range c.hanging {
			for n := range c.backlog {
				g.produce(c.id(i), fmt.Sprint("user-", n))
			}
		}
		m := g.join(0)
		of := c.feed(g)
		virtual.Sleep(10 * time.Second)
		m.stop()
		r = c.sum(g, of)
		r.inFlight, r.queued, r.busy = m.inFlight.Most(), m.queued.Most(), m.busy.Most()
	})
	return r
}

func (c crowd) id(i int) string {
	if i < c.hanging {
		return fmt.Sprintf("dead%d", i)
	}
	return fmt.Sprintf("well%d", i)
}

// serviceTime is 10 to 50 ms, the same for an event in any run.
func serviceTime(host string, event int) time.Duration {
	hash := fnv.New32a()
	fmt.Fprint(hash, host, event)
	return 10*time.Millisecond + time.Duration(hash.Sum32()%40_000)*time.Microsecond
}

// feed writes an event a second for each destination, and returns which events are
// for those that are well.
func (c crowd) feed(g *simGroup) (well []int) {
	gap := time.Second / time.Duration(c.destinations)
	for i := range int(c.length/time.Second) * c.destinations {
		virtual.Sleep(gap)
		n := i % c.destinations
		event := g.produce(c.id(n), fmt.Sprint("user-", i%7))
		if n >= c.hanging {
			well = append(well, event)
		}
	}
	return well
}

func (c crowd) sum(g *simGroup, well []int) (r crowdOutcome) {
	var took []time.Duration
	for _, i := range well {
		e := &g.books.events[i]
		if e.taken == 0 {
			took = append(took, time.Hour)
			continue
		}
		took = append(took, e.delivered.Sub(e.created))
	}
	slices.Sort(took)
	r.p50, r.p99 = took[len(took)/2], took[len(took)*99/100]
	for i := range c.hanging {
		r.timeouts += g.books.host(simHost(c.id(i), 0)).posts
	}
	return r
}

// TestTheDeadDoNotHoldUpTheOthers: what hangs takes its own slots and memory, and
// those are bounded whatever waits.
func TestTheDeadDoNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		crowd
		slower float64
	}{
		{crowd{destinations: 50, hanging: 10, backlog: 300, length: 3 * time.Minute}, 1.25},
		{crowd{destinations: 1000, hanging: 200, backlog: 50, length: 20 * time.Second}, 1.5},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d of %d", tt.hanging, tt.destinations), func(t *testing.T) {
			t.Parallel()
			quiet := tt.crowd
			quiet.hanging, quiet.backlog = 0, 0
			before, r := quiet.play(t), tt.play(t)
			t.Logf("undisturbed %+v", before)
			t.Logf("disturbed %+v", r)
			if r.p99 > time.Duration(tt.slower*float64(before.p99)) {
				t.Errorf("p99 of the others %s, expected %.2f times %s at most", r.p99, tt.slower, before.p99)
			}
			if r.timeouts < 5*tt.hanging {
				t.Errorf("%d timeouts, expected more: there was no disturbance", r.timeouts)
			}
			if r.inFlight > 1024 || r.queued > crowdBudget || r.busy > 2048 {
				t.Errorf("%.0f attempts, %.0f bytes, %.0f workers at most; expected 1024, %d, 2048", r.inFlight, r.queued, r.busy, crowdBudget)
			}
		})
	}
}

// TestOneDeadEndpointAmongFive: it costs a few timeouts until its breaker opens,
// then a probe now and then.
func TestOneDeadEndpointAmongFive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newSimGroup(simPlan{destinations: map[string]int{"crm": 5}, commitEvery: time.Second})
		dead := simHost("crm", 3)
		g.net.answer = func(host string, event int, now time.Time) simAnswer {
			if host == dead {
				return hangs
			}
			return responds(serviceTime(host, event), 200)
		}
		g.join(0)
		const seconds, rate = 600, 4
		for i := range seconds * rate {
			g.produce("crm", fmt.Sprint("user-", i))
			virtual.Sleep(time.Second / rate)
		}
		virtual.Sleep(10 * time.Second)
		g.close(t)
		slow := 0
		for i := range g.books.events {
			e := &g.books.events[i]
			if e.taken != 1 || e.attempts != 1 {
				t.Fatalf("event %d was delivered %d times in %d attempts, expected one each", i, e.taken, e.attempts)
			}
			if e.delivered.Sub(e.created) > time.Second {
				slow++
			}
		}
		posts := g.books.host(dead).posts
		t.Logf("%d events, %d requests to the dead endpoint, %d events held up", seconds*rate, posts, slow)
		// Until the fifth failure in a row, six seconds' worth; then the probes, with
		// pauses that double up to a minute.
		if most := 6*rate + 1 + 6 + seconds/45; posts > most || slow > most {
			t.Errorf("%d requests to the dead endpoint, %d events held up; expected %d at most", posts, slow, most)
		}
		for i := range 5 {
			if host := simHost("crm", i); host != dead && g.books.host(host).posts != seconds*rate {
				t.Errorf("%d requests to %s, expected one for each event", g.books.host(host).posts, host)
			}
		}
	})
}
