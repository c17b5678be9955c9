package dispatch

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func lane(j *Job) string { return j.Record.Topic + "/" + j.key }

// begun notes a start, and what must hold at it. Timers call it too, so it must
// not end the test.
func (m *model) begun(j *Job) {
	l := m.byName[j.part.Place]
	switch {
	case m.halted:
		m.t.Errorf("%v@%d started after the stop", l.at, j.Record.Offset)
	case m.jobs[j]:
		m.t.Errorf("%v@%d started twice", l.at, j.Record.Offset)
	case j.part != m.floor.parts[l.at] || j.part.closing:
		m.t.Errorf("%v@%d started though the partition was taken away", l.at, j.Record.Offset)
	case l.known[j.Record.Offset]:
		m.t.Errorf("%v@%d started again after it was committed as finished", l.at, j.Record.Offset)
	}
	m.jobs[j] = true
	if !j.IsRetry() {
		j.Read() // as a worker does
	}
	if j.IsRetry() {
		m.begunRetry(j)
	} else {
		m.begunFirst(j)
	}
	m.floor.begun(j)
}

func (m *model) begunFirst(j *Job) {
	if m.busy[lane(j)] != nil {
		m.t.Errorf("two events of %s are in flight", lane(j))
	}
	if last, known := m.last[lane(j)]; known && j.Record.Offset <= last {
		m.t.Errorf("%s: offset %d started after %d", lane(j), j.Record.Offset, last)
	}
	m.busy[lane(j)], m.last[lane(j)] = j, j.Record.Offset
}

func (m *model) begunRetry(j *Job) {
	early, ahead := time.Until(j.Headers.Due), time.Until(j.reserved)
	switch {
	case j.slot && early > 0:
		m.t.Errorf("attempt %s before it is due", early)
	case j.slot:
		delete(m.naps, j.queue)
	case j.reserved.IsZero() && early < shortest:
		m.t.Errorf("put on, though it is due in %s", early)
	case !j.reserved.IsZero() && ahead < shortest:
		m.t.Errorf("put back for a slot only %s ahead", ahead)
	}
}

func (m *model) check() {
	m.floor.mu.Lock()
	defer m.floor.mu.Unlock()
	m.checkLimits()
	m.checkPartitions()
	m.checkQueues()
	for q := range m.naps {
		if !q.napping {
			delete(m.naps, q)
		}
	}
}

// checkLimits holds the limits against what is in flight.
func (m *model) checkLimits() {
	f := m.floor
	attempts := 0
	firsts, retries := make(map[*queue]int), make(map[*queue]int)
	for _, j := range f.flying {
		switch {
		case !j.slot:
			continue
		case j.IsRetry():
			retries[j.queue]++
		default:
			firsts[j.queue]++
		}
		attempts++
	}
	if attempts > f.limits.Total || attempts != f.inFlight {
		m.t.Fatalf("%d in flight, the limit is %d, and the dispatcher counts %d", attempts, f.limits.Total, f.inFlight)
	}
	for _, q := range f.queues {
		if firsts[q] != q.slots.Firsts || retries[q] != q.slots.Retries || firsts[q]+retries[q] > f.limits.Each || retries[q] > max(1, f.limits.Each/2) {
			m.t.Fatalf("%d first attempts and %d retries in flight, the limit is %d, and the dispatcher counts %d and %d",
				firsts[q], retries[q], f.limits.Each, q.slots.Firsts, q.slots.Retries)
		}
	}
}

// checkPartitions holds the accounts of retry partitions against what they hold,
// and their timers against the time.
func (m *model) checkPartitions() {
	parked := make(map[*partition]int)
	for _, j := range m.floor.flying {
		if !j.slot {
			parked[j.part] += j.size
		}
	}
	for at, p := range m.floor.parts {
		for _, j := range p.waiting {
			parked[p] += j.size
		}
		paused := m.floor.paused[fmt.Sprint(at)]
		switch {
		case p.closing:
			continue
		case p.parked != parked[p]:
			m.t.Fatalf("%d bytes are on the account of %v, which has %d", p.parked, at, parked[p])
		case p.retry && paused && p.parked < parkLow, p.retry && !paused && p.parked > parkHigh:
			m.t.Fatalf("%v is paused: %t, with %d bytes", at, paused, p.parked)
		case len(p.waiting) > 0 && !p.waiting[0].turn.After(time.Now()):
			m.t.Fatalf("the turn of a retry of %v came %s ago", at, time.Since(p.waiting[0].turn))
		}
	}
}

// checkQueues looks for what could start and does not, and holds the accounts of
// due retries against the retries.
func (m *model) checkQueues() {
	due, bytes, queued, aside := 0, 0, 0, 0
	for id, q := range m.floor.queues {
		own := 0
		for _, j := range q.due.items[q.due.head:] {
			own += j.size
		}
		due, bytes, queued = due+q.due.len(), bytes+own, queued+q.bytes+q.asideBytes
		aside += q.asideKeys
		if own != q.dueBytes || q.due.len() > maxDue {
			m.t.Fatalf("%d retries of %s wait with %d bytes, on their account are %d", q.due.len(), id, own, q.dueBytes)
		}
		m.checkIdle(id, q)
	}
	if bytes != m.floor.dueBytes {
		m.t.Fatalf("%d bytes of retries wait, on their account are %d", bytes, m.floor.dueBytes)
	}
	if away := m.away(); aside != away {
		m.t.Fatalf("%d keys are away, on their account are %d", away, aside)
	}
	m.gauge("due", m.floor.gauges.Due, due)
	m.gauge("queued", m.floor.gauges.Queued, queued)
	m.gauge("in flight", m.floor.gauges.InFlight, m.floor.inFlight)
}

// away counts the keys that are away, and holds what is known of each against what
// was brought of it.
func (m *model) away() int {
	away := 0
	for at, p := range m.floor.parts {
		for _, k := range p.aside.keys {
			switch {
			case p.closing:
				continue
			case k.away:
				away++
				m.aside++
			case len(k.brought) == 0:
				m.t.Fatalf("a key of %v is back and finished, and not forgotten", at)
			}
			if !slices.IsSortedFunc(k.brought, func(a, b brought) int { return cmp.Compare(a.offset, b.offset) }) || k.skipped < 0 {
				m.t.Fatalf("of a key of %v %v were brought, and %d are to come", at, k.brought, k.skipped)
			}
		}
	}
	return away
}

// checkIdle: a nap is over within a second, since retries start at least that
// often.
func (m *model) checkIdle(id string, q *queue) {
	f := m.floor
	switch {
	case m.halted:
	case q.lanes.Ready() && f.limits.Room(&q.slots, f.inFlight):
		m.t.Fatalf("a first attempt of %s could start", id)
	case q.due.len() == 0 || !f.limits.Retry(&q.slots, f.inFlight):
		delete(m.naps, q)
	case !q.napping:
		m.t.Fatalf("a retry of %s could start", id)
	case m.naps[q].IsZero():
		m.naps[q] = time.Now()
	case time.Since(m.naps[q]) > 2*time.Second:
		m.t.Fatalf("no retry of %s has started for %s", id, time.Since(m.naps[q]))
	}
}

func (m *model) gauge(name string, g prometheus.Gauge, expected int) {
	if got := testutil.ToFloat64(g); got != float64(expected) {
		m.t.Fatalf("gauge of what is %s: %.0f, expected %d", name, got, expected)
	}
}

// drain lets everything end: all that was fetched and stayed ours is finished and
// committed, and nothing is left over.
func (m *model) drain() {
	clear(m.down)
	m.calm = true
	for _, l := range m.logs {
		if !l.mine {
			l.gain(m.floor)
		}
	}
	began := time.Now()
	for !m.drained() {
		m.pass(time.Second)
		if time.Since(began) > time.Hour {
			m.t.Fatal("not drained after an hour")
		}
	}
	for id, times := range m.events {
		if times == 0 || times > 1 && m.polite {
			m.t.Fatalf("event %s was delivered %d times", id, times)
		}
	}
	m.expectNothing()
}

// drained fetches and ends what it can, and reports whether that was all.
func (m *model) drained() bool {
	for _, l := range m.logs {
		if !m.paused(l) {
			m.fetch(l, len(l.records))
			m.pass(0)
		}
	}
	for m.inFlight(anyJob) > 0 || m.reread() {
		m.end()
		m.pass(0)
		m.check()
	}
	m.commit()
	for _, l := range m.logs {
		if l.committed != l.end() {
			return false
		}
	}
	return true
}

// halt stops in the middle, and gives back what is ours.
func (m *model) halt() {
	idle := m.floor.Stop()
	m.floor.mu.Lock()
	m.halted = true
	m.floor.mu.Unlock()
	for m.inFlight(anyJob) > 0 {
		m.end()
	}
	<-idle
	m.pass(time.Hour)
	for _, l := range m.logs {
		m.floor.Forget(l.one())
	}
	m.expectNothing()
}

func anyJob(*Job) bool { return true }

func (m *model) expectNothing() {
	m.floor.mu.Lock()
	defer m.floor.mu.Unlock()
	m.gauge("due", m.floor.gauges.Due, 0)
	m.gauge("queued", m.floor.gauges.Queued, 0)
	m.gauge("in flight", m.floor.gauges.InFlight, 0)
	if m.floor.dueBytes != 0 || m.floor.running != 0 {
		m.t.Fatalf("%d bytes of retries are left, and %d jobs", m.floor.dueBytes, m.floor.running)
	}
	for name, paused := range m.floor.paused {
		if paused {
			m.t.Fatalf("%s stays paused", name)
		}
	}
}
