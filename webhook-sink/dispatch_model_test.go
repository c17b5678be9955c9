package webhooksink

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// model runs a dispatcher through random events and holds it against what it
// promises. It stands for the broker (logs with gaps, committed offsets), the
// group (partitions come and go) and the receivers (attempts end in any order).
type model struct {
	t      *testing.T
	random *rand.Rand
	floor  *floor
	logs   map[place]*modelLog
	busy   map[string]*job // by destination and key
	last   map[string]int64
}

// modelLog is one partition.
type modelLog struct {
	offsets   []int64 // of its records, with gaps
	fetched   int     // how many of them were handed over since it was assigned
	committed int64
	metadata  string
	mine      bool
	finished  map[int64]int  // attempts that ended
	owned     map[int64]bool // those that ended under the present assignment
	known     map[int64]bool // those that the broker was told of
}

const (
	modelDestinations = 5
	modelPartitions   = 2
	modelKeys         = 7
)

func newModel(t *testing.T, random *rand.Rand) *model {
	t.Helper()
	m := &model{
		t: t, random: random, floor: newFloor(t, shares{each: 1 + random.IntN(6), total: 6 + random.IntN(10)}),
		logs: make(map[place]*modelLog), busy: make(map[string]*job), last: make(map[string]int64),
	}
	for d := range modelDestinations {
		for n := range modelPartitions {
			l := &modelLog{finished: make(map[int64]int), known: make(map[int64]bool)}
			offset := int64(0)
			for range random.IntN(60) {
				offset += 1 + int64(random.IntN(3))
				l.offsets = append(l.offsets, offset)
			}
			m.logs[place{schemas.DeliverTopic("d" + strconv.Itoa(d)), int32(n)}] = l
		}
	}
	m.floor.start = m.start
	return m
}

// keyOf spreads the keys so that one key stays in one partition.
func keyOf(at place, offset int64) string {
	return fmt.Sprintf("%d-%d", at.num, offset%modelKeys)
}

func (m *model) start(j *job) {
	if m.logs[j.part.place].known[j.record.Offset] {
		m.t.Fatalf("offset %d of %v started again after it was committed as finished", j.record.Offset, j.part.place)
	}
	lane := j.record.Topic + "/" + j.key
	if m.busy[lane] != nil {
		m.t.Fatalf("two events of %s are in flight", lane)
	}
	if j.record.Offset <= m.last[lane] {
		m.t.Fatalf("%s: offset %d started after %d", lane, j.record.Offset, m.last[lane])
	}
	m.busy[lane], m.last[lane] = j, j.record.Offset
	m.floor.begun(j)
}

func (m *model) end() {
	if len(m.floor.flying) == 0 {
		return
	}
	i := m.random.IntN(len(m.floor.flying))
	j := m.floor.flying[i]
	m.floor.flying = append(m.floor.flying[:i], m.floor.flying[i+1:]...)
	delete(m.busy, j.record.Topic+"/"+j.key)
	l := m.logs[j.part.place]
	l.finished[j.record.Offset]++
	if j.part == m.floor.parts[j.part.place] {
		l.owned[j.record.Offset] = true
	}
	if next := m.floor.done(j, true); next != nil {
		m.start(next)
	}
}

func (m *model) pick() (place, *modelLog) {
	at := place{schemas.DeliverTopic("d" + strconv.Itoa(m.random.IntN(modelDestinations))), int32(m.random.IntN(modelPartitions))}
	return at, m.logs[at]
}

func (m *model) fetch() {
	at, l := m.pick()
	m.fetchFrom(at, l, 1+m.random.IntN(8))
}

func (m *model) fetchFrom(at place, l *modelLog, n int) {
	if !l.mine {
		n = min(n, 3) // stale records: refused
	}
	var jobs []*job
	for i := l.fetched; i < min(l.fetched+n, len(l.offsets)); i++ {
		jobs = append(jobs, newJob(&kgo.Record{Topic: at.topic, Partition: at.num, Offset: l.offsets[i], Key: []byte(keyOf(at, l.offsets[i]))}))
	}
	m.floor.take(at, jobs)
	if l.mine {
		l.fetched += len(jobs)
	}
}

func (m *model) commit() {
	all := m.floor.watermarks(nil)
	for _, w := range all {
		m.accept(w)
	}
	m.floor.committed(all)
}

// accept is the broker taking a commit: nothing below it may be unfinished.
func (m *model) accept(w watermark) {
	l := m.logs[w.part.place]
	if !l.mine {
		m.t.Fatalf("commit of %v, which is not ours", w.part.place)
	}
	for _, offset := range l.offsets {
		if offset < w.at.Offset && l.finished[offset] == 0 {
			m.t.Fatalf("commit of %v at %d, but %d is unfinished", w.part.place, w.at.Offset, offset)
		}
	}
	l.committed, l.metadata = w.at.Offset, w.done
	for offset := range l.owned {
		l.known[offset] = true
	}
}

func (m *model) rebalance(politely bool) {
	at, l := m.pick()
	one := map[string][]int32{at.topic: {at.num}}
	if !l.mine {
		m.gain(at, l)
		return
	}
	if politely {
		m.floor.release(one)
		for m.inFlightOf(at) > 0 {
			m.end()
		}
		for _, w := range m.floor.watermarks(one) {
			m.accept(w)
		}
	}
	m.floor.forget(one)
	l.mine = false
	for i := range modelKeys { // the records come again, from the first that is not committed
		delete(m.last, at.topic+"/"+keyOf(at, int64(i)))
	}
}

func (m *model) gain(at place, l *modelLog) {
	m.floor.assign(map[string][]int32{at.topic: {at.num}}, map[place]offsets.Done{at: offsets.Decode(l.committed, l.metadata)})
	l.mine = true
	l.owned = make(map[int64]bool)
	for l.fetched = 0; l.fetched < len(l.offsets) && l.offsets[l.fetched] < l.committed; l.fetched++ {
	}
}

func (m *model) inFlightOf(at place) int {
	n := 0
	for _, j := range m.floor.flying {
		if j.part.place == at && j.part == m.floor.parts[at] {
			n++
		}
	}
	return n
}

// check holds the limits against what is in flight.
func (m *model) check() {
	each := make(map[string]int)
	for _, j := range m.floor.flying {
		each[j.record.Topic]++
	}
	for topic, n := range each {
		if n > m.floor.shares.each {
			m.t.Fatalf("%d in flight for %s, the limit is %d", n, topic, m.floor.shares.each)
		}
	}
	if n := len(m.floor.flying); n > m.floor.shares.total || n != m.floor.inFlight {
		m.t.Fatalf("%d in flight, the limit is %d, and the dispatcher counts %d", n, m.floor.shares.total, m.floor.inFlight)
	}
	for _, q := range m.floor.queues {
		if q.lanes.Ready() && len(m.floor.flying) == 0 {
			m.t.Fatal("something could start and nothing is in flight")
		}
	}
}

// drain lets everything end: all that was fetched and stayed ours is finished and
// committed, and nothing is left over.
func (m *model) drain() {
	for at, l := range m.logs {
		if !l.mine {
			m.gain(at, l)
		}
		m.fetchFrom(at, l, len(l.offsets))
	}
	for len(m.floor.flying) > 0 {
		m.end()
		m.check()
	}
	m.commit()
	for at, l := range m.logs {
		if n := len(l.offsets); n > 0 && l.committed != l.offsets[n-1]+1 {
			m.t.Fatalf("%v ends at %d, committed is %d", at, l.offsets[n-1], l.committed)
		}
	}
	if left := testutil.ToFloat64(m.floor.metrics.queued); left != 0 {
		m.t.Fatalf("%.0f bytes are left in the books", left)
	}
	for name, paused := range m.floor.paused {
		if paused {
			m.t.Fatalf("%s stays paused", name)
		}
	}
}

func TestDispatcherKeepsItsPromises(t *testing.T) {
	for seed := range uint64(300) {
		m := newModel(t, rand.New(rand.NewPCG(seed, 9)))
		for range 400 {
			switch m.random.IntN(12) {
			case 0, 1, 2, 3:
				m.fetch()
			case 4, 5, 6, 7, 8:
				m.end()
			case 9:
				m.commit()
			case 10:
				m.rebalance(true)
			case 11:
				m.rebalance(m.random.IntN(3) > 0)
			}
			m.check()
		}
		m.drain()
	}
}
