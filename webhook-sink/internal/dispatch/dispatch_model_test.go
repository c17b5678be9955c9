package dispatch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// model runs a dispatcher through random events in virtual time and holds it
// against what it promises. It stands for the broker (logs with gaps, committed
// offsets, retry topics that what failed is written to), the group (partitions
// come and go) and the receivers (attempts end in any order, some destinations are
// down).
type model struct {
	t      *testing.T
	random *rand.Rand
	floor  *floor
	logs   []*modelLog
	byName map[partition.Place]*modelLog
	down   map[string]bool // destinations whose attempts are withheld
	calm   bool            // all attempts deliver
	polite bool            // no partition is taken away without a word
	halted bool            // stopped: nothing may start

	jobs   map[*Job]bool    // all that ever started
	busy   map[string]*Job  // by destination and key
	last   map[string]int64 // offset, likewise
	naps   map[*queues.Queue[*Job]]time.Time
	events map[string]int // how often each was delivered
	aside  int            // keys that were away at checks

	replays, putBack int // starts of replayed events, and how many of them were withheld

	held     map[string]bool // destinations for which nothing may start
	heldBack int             // retries of theirs that were put back
}

const (
	modelDestinations = 5
	modelPartitions   = 2
	modelKeys         = 7
)

func modelLimits(random *rand.Rand) quota.Limits {
	return quota.Limits{Each: 1 + random.IntN(6), Total: 6 + random.IntN(10<<random.IntN(3)), First: random.IntN(4)}
}

func newModel(t *testing.T, random *rand.Rand) *model {
	t.Helper()
	m := &model{
		t: t, random: random, floor: newFloor(t, modelLimits(random)),
		byName: make(map[partition.Place]*modelLog), down: make(map[string]bool), polite: random.IntN(3) == 0,
		jobs: make(map[*Job]bool), busy: make(map[string]*Job), last: make(map[string]int64),
		naps: make(map[*queues.Queue[*Job]]time.Time), events: make(map[string]int), held: make(map[string]bool),
	}
	topics := []string{onFiveSeconds, onTwoMinutes}
	for d := range modelDestinations {
		topics = append(topics, schemas.DeliverTopic("d"+strconv.Itoa(d)))
		if d%2 == 0 {
			topics = append(topics, schemas.ReplayTopic("d"+strconv.Itoa(d)))
		}
	}
	for _, topic := range topics {
		for n := range modelPartitions {
			l := newModelLog(partition.Place{Topic: topic, Num: int32(n)})
			m.logs, m.byName[l.at] = append(m.logs, l), l
		}
	}
	for _, l := range m.logs[2*modelPartitions:] {
		for range random.IntN(60) {
			m.event(l, schemas.Headers{})
		}
	}
	m.floor.Start = m.begun
	return m
}

// event writes one that nobody has seen yet.
func (m *model) event(l *modelLog, h schemas.Headers) {
	h.MessageID = strconv.Itoa(len(m.events))
	m.events[h.MessageID] = 0
	l.add(m.random, fmt.Appendf(nil, "%d-%d", l.at.Num, m.random.IntN(modelKeys)), h)
}

// again writes an event to a retry topic.
func (m *model) again(h schemas.Headers, due time.Time, reserved bool) {
	h.Due, h.Reserved = due, reserved
	l := m.logs[m.random.IntN(modelPartitions)]
	if time.Until(due) >= 2*time.Minute {
		l = m.logs[modelPartitions+m.random.IntN(modelPartitions)]
	}
	l.add(m.random, nil, h)
}

// backlog is what others have written: events of one destination that are all due
// at once, as after an outage.
func (m *model) backlog() {
	h := schemas.Headers{Destination: "d" + strconv.Itoa(m.random.IntN(modelDestinations)), Due: time.Now().Add(m.upTo(20 * time.Second))}
	for range 20 + m.random.IntN(30) {
		m.event(m.logs[m.random.IntN(modelPartitions)], h)
	}
}

// hold has nothing start for a destination, or lets it go on.
func (m *model) hold(id string, is bool) {
	m.floor.mu.Lock()
	m.held[id] = is
	m.floor.mu.Unlock()
	var ids []string
	for id, is := range m.held {
		if is {
			ids = append(ids, id)
		}
	}
	m.floor.Hold(ids)
}

func (m *model) upTo(d time.Duration) time.Duration { return time.Duration(m.random.Int64N(int64(d))) }

// end lets a job in flight end.
func (m *model) end() {
	j := m.land()
	if j == nil {
		return
	}
	o := m.outcome(j)
	m.landed(j, o)
	if next := m.floor.Done(j, o); next != nil {
		m.floor.mu.Lock()
		defer m.floor.mu.Unlock()
		m.begun(next)
	}
}

// land takes a job out of those in flight, nil when there is none. Like all that
// timers have a part in, what is in flight is the mutex's.
func (m *model) land() *Job {
	m.floor.mu.Lock()
	defer m.floor.mu.Unlock()
	if len(m.floor.flying) == 0 {
		return nil
	}
	i := m.random.IntN(len(m.floor.flying))
	j := m.floor.flying[i]
	m.floor.flying = slices.Delete(m.floor.flying, i, i+1)
	delete(m.busy, lane(j))
	return j
}

// landed notes what a job has come to, before the dispatcher is told.
func (m *model) landed(j *Job, o outcome.Outcome) {
	m.floor.mu.Lock()
	defer m.floor.mu.Unlock()
	if j.IsReplay() && o.Verdict == outcome.Withheld {
		delete(m.jobs, j) // and starts once more
		m.last[lane(j)] = j.Record.Offset - 1
		m.putBack++
		return
	}
	l := m.byName[j.part.Place]
	l.finished[j.Record.Offset] = true
	if j.part == m.floor.parts[j.part.Place] {
		l.owned[j.Record.Offset] = true
	}
}

// outcome is what a worker would do with a job.
func (m *model) outcome(j *Job) outcome.Outcome {
	h, c := j.Headers, j.Case()
	o := outcome.Outcome{Took: time.Since(j.began)}
	switch {
	case !c.Slot && m.held[h.Destination] && !h.Due.After(time.Now()):
		m.again(h, time.Now().Add(5*time.Second+m.upTo(time.Minute)), false)
		m.heldBack++
	case !c.Slot && !c.Reserved.IsZero():
		m.again(h, c.Reserved, true)
	case !c.Slot:
		m.again(h, h.Due, h.Reserved)
	case m.down[h.Destination] && j.IsReplay():
		o.Verdict, o.Until = outcome.Withheld, time.Now().Add(m.upTo(5*time.Second))
	case m.down[h.Destination]:
		o.Verdict = outcome.Withheld
		m.again(h, time.Now().Add(5*time.Second+m.upTo(time.Minute)), false)
	case !m.calm && m.random.IntN(6) == 0:
		o.Verdict = outcome.Retry
		m.again(h, time.Now().Add(5*time.Second+m.upTo(5*time.Minute)), false)
	default:
		o.Verdict = outcome.Delivered
		m.events[h.MessageID]++
	}
	return o
}

// reread serves one of the parts that are to be read once more. Now and then it finds
// nothing, as when no broker answers.
func (m *model) reread() bool {
	m.floor.mu.Lock()
	if len(m.floor.sought) == 0 {
		m.floor.mu.Unlock()
		return false
	}
	i := m.random.IntN(len(m.floor.sought))
	r := m.floor.sought[i]
	m.floor.sought = slices.Delete(m.floor.sought, i, i+1)
	m.floor.mu.Unlock()
	records, next := m.byName[r.Place].part(r.From, m.random.IntN(12))
	if again := m.floor.Bring(r, records, next); again != nil {
		m.floor.mu.Lock()
		defer m.floor.mu.Unlock()
		m.floor.sought = append(m.floor.sought, again)
	}
	return true
}

func (m *model) log() *modelLog { return m.logs[m.random.IntN(len(m.logs))] }

// fetch hands over the next records of a partition. Of one that is paused only a
// poll under way brings some.
func (m *model) fetch(l *modelLog, n int) {
	jobs := l.next(n)
	m.floor.Take(l.at, jobs)
	if l.mine {
		l.fetched += len(jobs)
	}
}

func (m *model) paused(l *modelLog) bool {
	return m.floor.isPaused(l.at.Topic) || m.floor.isPaused(fmt.Sprint(l.at))
}

func (m *model) commit() {
	all := m.floor.Watermarks(nil)
	for _, w := range all {
		m.byName[w.Place].accept(m.t, w)
	}
	m.floor.Committed(all)
}

func (m *model) rebalance(l *modelLog) {
	if !l.mine {
		l.gain(m.floor)
		return
	}
	if m.polite || m.random.IntN(3) > 0 {
		m.giveBack(l)
	}
	m.floor.Forget(l.one())
	l.mine = false
	m.floor.mu.Lock()
	defer m.floor.mu.Unlock()
	for i := range modelKeys { // the records come again, from the first that is not committed
		delete(m.last, fmt.Sprintf("%s/%d-%d", l.at.Topic, l.at.Num, i))
	}
}

// giveBack ends the work on a partition in good order.
func (m *model) giveBack(l *modelLog) {
	idle := m.floor.Release(l.one())
	for m.inFlight(func(j *Job) bool { return j.part == m.floor.parts[l.at] }) > 0 {
		m.end()
		m.pass(0)
	}
	<-idle[0]
	for _, w := range m.floor.Watermarks(l.one()) {
		l.accept(m.t, w)
	}
}

func (m *model) inFlight(which func(*Job) bool) int {
	m.floor.mu.Lock()
	defer m.floor.mu.Unlock()
	n := 0
	for _, j := range m.floor.flying {
		if which(j) {
			n++
		}
	}
	return n
}

// pass lets time go by, at least so much that the timers fire that are due.
func (m *model) pass(d time.Duration) {
	virtual.Sleep(d + 1)
	synctest.Wait()
}

func (m *model) step() {
	switch m.random.IntN(23) {
	case 0, 1, 2, 3, 4, 5:
		if l := m.log(); !m.paused(l) || m.random.IntN(10) == 0 {
			m.fetch(l, 1+m.random.IntN(8))
		}
	case 6, 7, 8, 9, 10, 11, 12:
		m.end()
	case 13:
		m.commit()
	case 14:
		m.rebalance(m.log())
	case 16, 17:
		m.reread()
	case 15:
		id := "d" + strconv.Itoa(m.random.IntN(modelDestinations))
		m.down[id] = !m.down[id]
	case 22:
		id := "d" + strconv.Itoa(m.random.IntN(modelDestinations))
		m.hold(id, !m.held[id] && m.random.IntN(2) == 0)
	case 18:
		if m.random.IntN(4) == 0 {
			m.backlog()
		}
	default:
		m.pass(m.upTo(time.Duration(1) << m.random.IntN(35))) // up to 17 s
	}
	m.pass(0)
	m.check()
}

func TestDispatcherKeepsItsPromises(t *testing.T) {
	aside, replays, putBack, heldBack := 0, 0, 0, 0
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			m := newModel(t, rand.New(rand.NewPCG(seed, 9)))
			for range 600 {
				m.step()
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
			if seed%4 == 0 {
				m.halt()
			} else {
				m.drain()
			}
			aside, replays, putBack, heldBack = aside+m.aside, replays+m.replays, putBack+m.putBack, heldBack+m.heldBack
		})
	}
	if aside < 1000 || replays < 1000 || putBack < 100 || heldBack < 100 {
		t.Errorf("%d times a key was away at a check, %d replayed events started, %d were withheld, %d retries put back while held; expected many",
			aside, replays, putBack, heldBack)
	}
}
