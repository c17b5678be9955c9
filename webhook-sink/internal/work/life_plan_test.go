package work

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// life is the plan of one simulation, made of a seed.
type life struct {
	seed         uint64
	random       *rand.Rand
	plan         simPlan
	usual        bool // the schedule is the product's
	skewed       bool // clocks are wrong
	crowded      bool // there are more events than slots
	gap          int64
	skews        []time.Duration // of the members at first
	behaviours   map[string][]phase
	events       []lifeEvent
	disturbances []disturbance

	group *simGroup
	start time.Time
}

type lifeEvent struct {
	at               time.Duration
	destination, key string
	number           int
}

// phase is how an endpoint behaves until a time.
type phase struct {
	until time.Duration
	kind  behaviour
}

type behaviour int

const (
	answers behaviour = iota
	slow
	unavailable
	busySeconds
	busyDate
	hanging
	hangingUp
	refusing
	gone
	moved
	moody // one of the above, by event and moment
)

var behaviourNames = []string{"answers", "slow", "503", "429 seconds", "429 date", "hangs", "hangs up", "refuses", "410", "302", "moody"}

func (b behaviour) String() string { return behaviourNames[b] }

type disturbance struct {
	kind   int
	at     time.Duration
	length time.Duration
	member int
	skew   time.Duration
}

const (
	restarts = iota
	killed
	joins
	leaves
	writeless
	disturbanceKinds
)

// simSession is how long a killed member's partitions rest.
const simSession = 8 * time.Second

func newLife(seed uint64) *life {
	l := &life{seed: seed, random: rand.New(rand.NewPCG(seed, 4)), behaviours: make(map[string][]phase)}
	r := l.random
	l.skewed = r.IntN(4) == 0
	l.gap = int64(r.IntN(4))
	l.chooseSchedule()
	l.plan.limits = quota.Limits{Each: []int{1, 2, 8, 64}[r.IntN(4)]}
	l.plan.limits.First = r.IntN(6) // 0: no such limit
	l.plan.limits.Total = l.plan.limits.Each * (1 + r.IntN(16))
	l.plan.partitions, l.plan.retryPartitions = 1+int32(r.IntN(3)), 1+int32(r.IntN(2))
	l.plan.destinations = make(map[string]int)
	for i := range 1 + r.IntN(3) {
		l.chooseDestination(fmt.Sprintf("d%d", i))
	}
	for range 1 + r.IntN(3) {
		l.skews = append(l.skews, l.skew())
	}
	l.chooseEvents()
	if r.IntN(4) > 0 {
		l.chooseDisturbances()
	}
	return l
}

func (l *life) chooseSchedule() {
	r := l.random
	l.plan.delays, l.plan.window, l.usual = config.Default().RetryDelays, config.Default().RetryWindow, true
	if r.IntN(2) == 0 {
		return
	}
	l.usual = false
	l.plan.delays = nil
	delay := time.Duration(0)
	for range 1 + r.IntN(6) {
		delay += time.Duration(100+r.IntN(300_000)) * time.Millisecond
		l.plan.delays = append(l.plan.delays, delay)
	}
	if r.IntN(2) == 0 {
		l.plan.window = time.Minute + time.Duration(r.Int64N(int64(config.Default().RetryWindow-time.Minute)))
	}
}

func (l *life) chooseDestination(id string) {
	r := l.random
	endpoints := 1
	if r.IntN(2) == 0 {
		endpoints += r.IntN(5)
	}
	l.plan.destinations[id] = endpoints
	for i := range endpoints {
		var phases []phase
		for at := time.Duration(0); at < 9*time.Hour; {
			at += time.Duration(r.Int64N(int64(3 * time.Hour)))
			phases = append(phases, phase{at, behaviour(r.IntN(int(moody) + 1))})
		}
		if r.IntN(2) == 0 { // down from first to last, as far as its events go
			phases = []phase{{24 * time.Hour, unavailable + behaviour(r.IntN(int(refusing-unavailable)+1))}}
		}
		phases[len(phases)-1].until = 24 * time.Hour
		l.behaviours[simHost(id, i)] = phases
	}
}

func (l *life) chooseEvents() {
	r := l.random
	ids := slices.Sorted(func(yield func(string) bool) {
		for id := range l.plan.destinations {
			if !yield(id) {
				return
			}
		}
	})
	events, within := 4+r.IntN(6), min(l.plan.window, time.Hour)
	if r.IntN(20) == 0 { // all at once: more than there are slots
		events, within, l.crowded = 100, 10*time.Second, true
	}
	for range events {
		l.events = append(l.events, lifeEvent{
			at:          time.Duration(r.Int64N(int64(within))),
			destination: ids[r.IntN(len(ids))],
			key:         "user-" + strconv.Itoa(r.IntN(3)),
		})
	}
	slices.SortFunc(l.events, func(a, b lifeEvent) int { return int(a.at - b.at) })
}

func (l *life) chooseDisturbances() {
	r := l.random
	for range 1 + r.IntN(6) {
		at := time.Duration(r.Int64N(int64(l.plan.window)))
		if r.IntN(2) == 0 { // in the midst of an attempt
			at = l.events[r.IntN(len(l.events))].at + time.Duration(r.Int64N(int64(200*time.Millisecond)))
		}
		l.disturbances = append(l.disturbances, disturbance{
			kind: r.IntN(disturbanceKinds), at: at, member: r.IntN(3), skew: l.skew(),
			length: time.Duration(r.Int64N(int64(15 * time.Second))),
		})
	}
	slices.SortFunc(l.disturbances, func(a, b disturbance) int { return int(a.at - b.at) })
}

// skew is how much a member's clock is ahead.
func (l *life) skew() time.Duration {
	if !l.skewed {
		return 0
	}
	return time.Duration(l.random.Int64N(int64(2*maxSkew))) - maxSkew
}

const maxSkew = 10 * time.Minute

// kills reports whether a member is killed, and cuts whether one may be stopped
// while it can't write.
func (l *life) kills() bool { return l.has(killed) }
func (l *life) cuts() bool  { return l.has(writeless) }

func (l *life) has(kind int) bool {
	return slices.ContainsFunc(l.disturbances, func(d disturbance) bool { return d.kind == kind })
}

func (l *life) at(host string, now time.Time) behaviour {
	since := now.Sub(l.start)
	phases := l.behaviours[host]
	i := slices.IndexFunc(phases, func(p phase) bool { return since < p.until })
	return phases[i].kind
}

func (l *life) refuses(host string, now time.Time) bool { return l.at(host, now) == refusing }

// dice are the same for one request whenever it is asked about.
func (l *life) dice(host string, event int, now time.Time) uint64 {
	hash := fnv.New64a()
	fmt.Fprint(hash, l.seed, host, event, now.Sub(l.start))
	return hash.Sum64() >> 3 // its lowest bits follow the last bytes
}

func (l *life) answer(host string, event int, now time.Time) simAnswer {
	kind, dice := l.at(host, now), l.dice(host, event, now)
	if kind == moody {
		kind = behaviour(dice % uint64(refusing))
	}
	after := time.Duration(dice % uint64(500*time.Millisecond))
	wait := time.Duration(dice>>8%5000) * time.Second
	if dice%8 == 0 {
		wait *= 10 // beyond any window
	}
	switch kind {
	case slow:
		return responds(4*time.Second, http.StatusOK)
	case unavailable:
		return responds(after, http.StatusServiceUnavailable)
	case busySeconds:
		return responds(after, http.StatusTooManyRequests, "Retry-After: "+strconv.Itoa(int(wait/time.Second)))
	case busyDate:
		return responds(after, http.StatusTooManyRequests, "Retry-After: "+now.Add(wait).UTC().Format(http.TimeFormat))
	case hanging:
		return hangs
	case hangingUp, refusing:
		return hangsUp
	case gone:
		return responds(after, http.StatusGone)
	case moved:
		return responds(after, http.StatusFound, "Location: /")
	case answers, moody:
	}
	return responds(after, http.StatusOK)
}

func (l *life) String() string {
	return fmt.Sprintf("delays %v, window %s, limits %v, skews %v, endpoints %v, disturbances %v",
		l.plan.delays, l.plan.window, l.plan.limits, l.skews, l.behaviours, l.disturbances)
}
