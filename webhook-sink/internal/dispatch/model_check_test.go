package dispatch

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/anabranch/anabranch/webhook-sink/internal/parking"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
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
	if m.held[j.part.Destination] || j.slot && m.held[j.Headers.Destination] {
		m.t.Errorf("%v@%d started though its destination is held", l.at, j.Record.Offset)
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
	if !j.IsReplay() {
		return
	}
	m.replays++
	delete(m.naps, j.queue)
	if live := m.floor.queues.ByID[j.part.Destination]; live.Lanes.Ready() || live.Due.Len() > 0 {
		m.t.Errorf("%s@%d of a replay started, and a live event waits", lane(j), j.Record.Offset)
	}
}

func (m *model) begunRetry(j *Job) {
	early, ahead := time.Until(j.Headers.Due), time.Until(j.reserved)
	switch {
	case j.slot && early > 0:
		m.t.Errorf("attempt %s before it is due", early)
	case j.slot:
		delete(m.naps, j.queue)
	case j.reserved.IsZero() && early < shortest && !m.held[j.Headers.Destination]:
		m.t.Errorf("put on, though it is due in %s", early)
	case m.held[j.Headers.Destination]:
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
		if !q.Napping {
			delete(m.naps, q)
		}
	}
}

// checkLimits holds the limits against what is in flight.
func (m *model) checkLimits() {
	f := m.floor
	attempts := 0
	firsts, retries := make(map[*queues.Queue[*Job]]int), make(map[*queues.Queue[*Job]]int)
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
	if attempts > f.queues.Limits.Total || attempts != f.queues.InFlight {
		m.t.Fatalf("%d in flight, the limit is %d, and the dispatcher counts %d", attempts, f.queues.Limits.Total, f.queues.InFlight)
	}
	for _, q := range f.queues.ByID {
		replays, half := 0, max(1, f.queues.Limits.Each/2)
		if q.Replays != nil {
			replays = firsts[q.Replays]
		}
		if firsts[q] != q.Slots.Firsts || retries[q] != q.Slots.Retries || replays != q.Slots.Replays ||
			firsts[q]+retries[q]+replays > f.queues.Limits.Each || retries[q] > half || replays > half {
			m.t.Fatalf("%d first attempts, %d retries and %d replayed in flight, the limit is %d, and the dispatcher counts %+v",
				firsts[q], retries[q], replays, f.queues.Limits.Each, q.Slots)
		}
	}
}

// checkPartitions holds the accounts of retry partitions against what they hold,
// and their timers against the time.
func (m *model) checkPartitions() {
	aloft := m.aloft()
	for at, p := range m.floor.parts {
		if p.closing || !p.Retry {
			continue
		}
		parked := 0
		for _, r := range m.byName[at].unfinished() {
			if !aloft[r.Offset][p] {
				parked += partition.Size(r)
			}
		}
		bytes, paused := p.parked.Bytes(), m.floor.paused[at.String()]
		turn, waits := p.parked.Next()
		switch {
		case bytes != parked:
			m.t.Fatalf("%d bytes are on the account of %v, which has %d", bytes, at, parked)
		case paused && bytes < parking.Low, !paused && bytes > parking.High, paused != p.parked.IsPaused():
			m.t.Fatalf("%v is paused: %t, with %d bytes", at, paused, bytes)
		case waits && !turn.After(time.Now()):
			m.t.Fatalf("the turn of a retry of %v came %s ago", at, time.Since(turn))
		}
	}
}

// aloft are the retries, by offset and partition, that wait for a slot or have one.
func (m *model) aloft() map[int64]map[*part]bool {
	all := make(map[int64]map[*part]bool)
	note := func(j *Job) {
		if all[j.Record.Offset] == nil {
			all[j.Record.Offset] = make(map[*part]bool)
		}
		all[j.Record.Offset][j.part] = true
	}
	for _, j := range m.floor.flying {
		if j.aloft {
			note(j)
		}
	}
	m.floor.queues.DropDue(func(j *Job) bool {
		note(j)
		return false
	})
	return all
}

// checkQueues looks for what could start and does not, and holds the accounts of
// due retries against the retries.
func (m *model) checkQueues() {
	due, bytes, queued, aside := 0, 0, 0, 0
	for id, q := range m.floor.queues.ByID {
		own := 0
		q.Due.Remove(func(w queues.Waiting[*Job]) bool {
			own += w.Job.size
			return false
		})
		due, bytes, queued = due+q.Due.Len(), bytes+own, queued+q.Bytes+q.AsideBytes
		aside += q.AsideKeys
		if r := q.Replays; r != nil {
			queued, aside = queued+r.Bytes+r.AsideBytes, aside+r.AsideKeys
			m.checkReplays(id, r)
		}
		if own != q.DueBytes || q.Due.Len() > queues.MaxDue {
			m.t.Fatalf("%d retries of %s wait with %d bytes, on their account are %d", q.Due.Len(), id, own, q.DueBytes)
		}
		m.checkIdle(id, q)
	}
	if bytes != m.floor.queues.DueBytes {
		m.t.Fatalf("%d bytes of retries wait, on their account are %d", bytes, m.floor.queues.DueBytes)
	}
	if away := m.away(); aside != away {
		m.t.Fatalf("%d keys are away, on their account are %d", away, aside)
	}
	m.gauge("due", m.floor.Gauges.Due, due)
	m.gauge("queued", m.floor.Gauges.Queued, queued)
	m.gauge("in flight", m.floor.Gauges.InFlight, m.floor.queues.InFlight)
}

// away counts the keys that are away.
func (m *model) away() int {
	away := 0
	for at, p := range m.floor.parts {
		if p.closing {
			continue
		}
		if p.Away() > p.AsideKeys() {
			m.t.Fatalf("of %d keys of %v %d are away", p.AsideKeys(), at, p.Away())
		}
		away += p.Away()
	}
	m.aside += away
	return away
}

// checkIdle: a nap is over within a second, since retries start at least that
// often.
func (m *model) checkIdle(id string, q *queues.Queue[*Job]) {
	f := m.floor
	switch {
	case m.halted:
	case m.held[id] && q.Due.Len() > 0:
		m.t.Fatalf("%d retries of %s wait in memory, which is held", q.Due.Len(), id)
	case m.held[id]:
		delete(m.naps, q)
	case q.Lanes.Ready() && f.queues.Limits.Room(q.Slots, f.queues.InFlight):
		m.t.Fatalf("a first attempt of %s could start", id)
	case q.Due.Len() == 0 || !f.queues.Limits.Retry(q.Slots, f.queues.InFlight):
		delete(m.naps, q)
	case !q.Napping:
		m.t.Fatalf("a retry of %s could start", id)
	case m.naps[q].IsZero():
		m.naps[q] = time.Now()
	case time.Since(m.naps[q]) > 2*time.Second:
		m.t.Fatalf("no retry of %s has started for %s", id, time.Since(m.naps[q]))
	}
}

// checkReplays: what may start behind all live events has started, and a nap is over when
// retries have had what they reserved: minutes ahead, where many of them come back at once.
func (m *model) checkReplays(id string, r *queues.Queue[*Job]) {
	f, live := m.floor, m.floor.queues.ByID[id]
	switch {
	case m.halted:
	case m.held[id]:
		delete(m.naps, r)
	case !r.Lanes.Ready() || live.Lanes.Ready() || live.Due.Len() > 0 || !f.queues.MayReplay(r, time.Now()):
		delete(m.naps, r)
	case !r.Napping:
		m.t.Fatalf("a replayed event of %s could start", id)
	case m.naps[r].IsZero():
		m.naps[r] = time.Now()
	case time.Since(m.naps[r]) > 10*time.Minute:
		m.t.Fatalf("no replayed event of %s has started for %s", id, time.Since(m.naps[r]))
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
	for id := range m.held {
		m.hold(id, false)
	}
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
	m.gauge("due", m.floor.Gauges.Due, 0)
	m.gauge("queued", m.floor.Gauges.Queued, 0)
	m.gauge("in flight", m.floor.Gauges.InFlight, 0)
	if m.floor.queues.DueBytes != 0 || m.floor.running != 0 {
		m.t.Fatalf("%d bytes of retries are left, and %d jobs", m.floor.queues.DueBytes, m.floor.running)
	}
	for name, paused := range m.floor.paused {
		if paused {
			m.t.Fatalf("%s stays paused", name)
		}
	}
}
