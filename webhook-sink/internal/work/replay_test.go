package work

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// rerun is live events to one destination while a replay of many others waits for it.
type rerun struct {
	service time.Duration // of the receiver, which answers as many at once as there are
	differs bool          // it takes between nothing and twice as long
	workers int           // but for one that works on so many at a time; 0: all
	rate    int           // live events a second, at random
	burst   int           // so many at a time
	replay  int           // events
	length  time.Duration
	limits  quota.Limits
}

// rerunOutcome is what it came to.
type rerunOutcome struct {
	p50, p99  time.Duration // of live events, from an event's writing to its delivery
	replayed  int
	disorders int // of replayed events, within a user
	queued    float64
}

func (c rerun) play(t *testing.T) (r rerunOutcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newSimGroup(simPlan{destinations: map[string]int{"crm": 1}, partitions: 2, commitEvery: time.Second, limits: c.limits, replays: true})
		receiver := &simQueue{service: c.service, workers: c.workers}
		if c.differs {
			receiver.random = rand.New(rand.NewPCG(3, 3))
		}
		g.net.answer = func(_ string, _ int, now time.Time) simAnswer { return responds(receiver.next(now), 200) }
		m := g.join(0)
		random := rand.New(rand.NewPCG(7, 7))
		c.feed(g, random, 30*time.Second) // what the sink learns of the destination
		var users []string
		first := g.books.created() + 1
		for i := range c.replay {
			users = append(users, fmt.Sprint("user-", i%997))
			g.replay("crm", users[i])
		}
		live := c.feed(g, random, c.length)
		virtual.Sleep(time.Second)
		r.queued = m.queued.Most()
		c.sum(g, live, first, users, &r)
		m.stop()
	})
	return r
}

// feed writes live events, bursts of them at random times, and returns them.
func (c rerun) feed(g *simGroup, random *rand.Rand, length time.Duration) (live []int) {
	burst := max(c.burst, 1)
	for end := time.Now().Add(length); time.Now().Before(end); {
		virtual.Sleep(time.Duration(random.ExpFloat64() * float64(time.Second) * float64(burst) / float64(c.rate)))
		for range burst {
			live = append(live, g.produce("crm", fmt.Sprint("live-", random.IntN(100_000))))
		}
	}
	return live
}

func (c rerun) sum(g *simGroup, live []int, first int, users []string, r *rerunOutcome) {
	g.books.mu.Lock()
	defer g.books.mu.Unlock()
	var took []time.Duration
	for _, i := range live {
		e := &g.books.events[i]
		if e.taken == 0 {
			took = append(took, time.Hour)
			continue
		}
		took = append(took, e.delivered.Sub(e.created))
	}
	slices.Sort(took)
	r.p50, r.p99 = took[len(took)/2], p99(took)
	last := make(map[string]time.Time)
	for i, user := range users {
		e := &g.books.events[first+i]
		if e.taken == 0 {
			continue
		}
		r.replayed++
		if e.delivered.Before(last[user]) {
			r.disorders++
		}
		last[user] = e.delivered
	}
}

// simQueue is a receiver that works on so many requests at a time; the others wait.
type simQueue struct {
	service time.Duration
	workers int
	random  *rand.Rand // nil: all take as long

	mu   sync.Mutex
	free []time.Time // when each worker is
}

func (q *simQueue) next(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	service := q.service
	if q.random != nil {
		service = time.Duration(2 * q.random.Float64() * float64(service))
	}
	if q.workers == 0 {
		return service
	}
	if len(q.free) < q.workers {
		q.free = append(q.free, now.Add(service))
		return service
	}
	slices.SortFunc(q.free, time.Time.Compare)
	begin := q.free[0]
	if begin.Before(now) {
		begin = now
	}
	q.free[0] = begin.Add(service)
	return q.free[0].Sub(now)
}

// TestAReplayDelaysNoLiveEvents: whatever there is to replay, and whatever the receiver is
// like.
func TestAReplayDelaysNoLiveEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		rerun
		least int // events replayed
	}{
		{"a quick receiver", rerun{service: 20 * time.Millisecond, rate: 100, length: 30 * time.Second}, 1000},
		{"a receiver whose times differ", rerun{service: 50 * time.Millisecond, differs: true, rate: 100, length: time.Minute}, 1000},
		{"a slow one", rerun{service: 500 * time.Millisecond, rate: 20}, 500},
		{"half of its slots in use", rerun{service: 500 * time.Millisecond, rate: 64}, 500},
		{"nearly all of its slots in use", rerun{service: 500 * time.Millisecond, rate: 110}, 10},
		{"bursts as large as its slots", rerun{service: 500 * time.Millisecond, rate: 20, burst: 64}, 10},
		{"a receiver of few workers", rerun{service: 50 * time.Millisecond, rate: 20, workers: 8, length: 10 * time.Minute}, 1000},
		{"one of few workers whose times differ", rerun{service: 50 * time.Millisecond, differs: true, rate: 20, workers: 8, length: 10 * time.Minute}, 1000},
		{"a receiver of one worker", rerun{service: 20 * time.Millisecond, rate: 5, workers: 1, length: 20 * time.Minute}, 100},
		{"four slots", rerun{service: 500 * time.Millisecond, rate: 2, limits: quota.Limits{Each: 4, Total: 1024}}, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.length, tt.replay = cmp.Or(tt.length, 2*time.Minute), 100_000
			quiet := tt.rerun
			quiet.replay = 0
			before, r := quiet.play(t), tt.play(t)
			t.Logf("undisturbed %+v", before)
			t.Logf("disturbed %+v", r)
			if r.p99 > before.p99*5/4 {
				t.Errorf("p99 of live events %s, expected 1.25 times %s at most", r.p99, before.p99)
			}
			if r.replayed < tt.least || r.replayed == tt.replay || r.disorders > 0 {
				t.Errorf("%d events were replayed, expected %d at least, and not all; %d before an earlier one of their user", r.replayed, tt.least, r.disorders)
			}
			if r.queued > crowdBudget/2 {
				t.Errorf("%.0f bytes waited in memory", r.queued)
			}
		})
	}
}
