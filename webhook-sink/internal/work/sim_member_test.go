package work

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/webhook-sink/internal/attempt"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

const (
	simTimeout   = 5 * time.Second
	simGrace     = time.Second            // of a stop, beyond the timeout
	simFetch     = 2 * time.Millisecond   // from an append to the poll that returns it
	simResume    = 250 * time.Millisecond // from a resume to the poll: the fetch under way without it
	simReread    = 5 * time.Millisecond   // of a part that was read before
	simPoll      = 1000                   // records of a poll
	simPortion   = 250                    // of them of one partition
	simWriteTime = 2 * time.Millisecond   // of a record, from the client to its acknowledgement
)

// simMember is a member of the group: the sink as its session puts it together,
// with a loop of its own in place of the client.
type simMember struct {
	group      *simGroup
	skew       time.Duration // of its clock: what it writes is ahead by so much
	dispatcher *dispatch.Dispatcher
	attempter  *attempt.Attempter
	inFlight   *peak        // attempts
	queued     *peak        // bytes
	busy       *peak        // workers
	rereads    atomic.Int64 // records

	ctx     context.Context //nolint:containedctx // of the workers, as long as the member lives
	cut     context.CancelFunc
	dead    atomic.Bool // killed: it reaches nobody any more
	ended   chan struct{}
	loops   sync.WaitGroup
	workers sync.WaitGroup

	gate sync.Mutex // between a poll and a rebalance
	wake chan struct{}

	mu       sync.Mutex
	position map[partition.Place]int // of partitions that are ours
	dirty    map[partition.Place]bool
	paused   map[any]bool      // topics and places
	resumed  map[any]time.Time // when those may be fetched again

	committing sync.Mutex
}

func (g *simGroup) newMember(skew time.Duration) *simMember {
	m := &simMember{
		group: g, skew: skew,
		inFlight: &peak{}, queued: &peak{}, busy: &peak{},
		ended: make(chan struct{}), wake: make(chan struct{}, 1),
		position: make(map[partition.Place]int), dirty: make(map[partition.Place]bool), paused: make(map[any]bool), resumed: make(map[any]time.Time),
	}
	m.ctx, m.cut = context.WithCancel(context.Background())
	log := slog.New(slog.DiscardHandler)
	attempter, err := attempt.New(attempt.Options{
		Timeout: simTimeout, Idle: g.limits.Each, Dial: g.net.dial, Breaker: g.breaker, Logger: log, Observe: nobody{},
	})
	if err != nil {
		panic(err) // its only errors are about files
	}
	m.attempter = attempter
	worker := New(Options{
		Schedule:    schedule.New(g.delays, g.window, g.random),
		Workspace:   g.workspace.Load,
		Attempt:     m.attempt,
		Write:       m.write,
		Account:     func(j *dispatch.Job, f schedule.Fate) { g.books.ended(m, j, f) },
		WriteFailed: func() {},
		Logger:      log,
		Done:        func(j *dispatch.Job, o outcome.Outcome) *dispatch.Job { return m.dispatcher.Done(j, o) },
	})
	m.dispatcher = dispatch.New(dispatch.Options{
		Limits: g.limits, Shortest: g.delays[0], FetchWait: simResume, Flow: m.flow(),
		Gauges: dispatch.Gauges{
			Gauges:   queues.Gauges{InFlight: m.inFlight, Queued: m.queued, Due: &peak{}},
			Lateness: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "lateness_seconds", Help: "Nobody reads it."}),
		},
		Start: func(j *dispatch.Job) {
			m.busy.Add(1)
			m.workers.Go(func() {
				defer m.busy.Add(-1)
				worker.Work(m.ctx, j)
			})
		},
		Reread: func(r *dispatch.Reread) { m.workers.Go(func() { m.reread(r) }) },
	})
	m.dispatcher.Hold(g.workspace.Load().PausedIDs())
	m.loops.Go(m.fetchLoop)
	m.loops.Go(m.commitLoop)
	return m
}

func (m *simMember) attempt(ctx context.Context, dest *workspace.Destination, only []uint64, event []byte, last bool) outcome.Outcome {
	began := time.Now()
	o := m.attempter.Attempt(ctx, dest, only, event, last)
	m.group.books.attempted(simAttempt{
		event: eventOf(event), member: m, began: began, took: time.Since(began), outcome: o, last: last,
	})
	return o
}

var errSimWrite = errors.New("brokers do not answer")

// write takes half of its time before the record is in the log, and half before
// that is known.
func (m *simMember) write(ctx context.Context, r *kgo.Record) error {
	if !waiting.Sleep(ctx, simWriteTime/2) || m.dead.Load() {
		return context.Canceled
	}
	if m.group.writesFail.Load() {
		return errSimWrite
	}
	again := *r
	shift(&again, m.skew)
	m.group.broker.append(&again, time.Now().Add(m.skew))
	m.group.books.written(r)
	if !waiting.Sleep(ctx, simWriteTime/2) {
		return ctx.Err()
	}
	return nil
}

// shift moves the times that a record carries. A clock that is wrong by a constant
// shows in nothing else.
func shift(r *kgo.Record, by time.Duration) {
	if by == 0 {
		return
	}
	h, err := kafka.HeadersOf(r)
	if err != nil {
		panic(err)
	}
	for _, t := range []*time.Time{&h.FirstAttempt, &h.Due} {
		if !t.IsZero() {
			*t = t.Add(by)
		}
	}
	r.Timestamp = r.Timestamp.Add(by)
	kafka.SetHeaders(r, &h)
}

func (m *simMember) commitLoop() {
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-m.ended:
			return
		case <-m.dispatcher.Finished():
		}
		if !waiting.Sleep(m.ctx, m.group.commitEvery) {
			return
		}
		m.commit(nil)
	}
}

func (m *simMember) commit(of map[string][]int32) {
	if m.dead.Load() {
		return
	}
	m.committing.Lock()
	defer m.committing.Unlock()
	marks := m.dispatcher.Watermarks(of)
	m.group.broker.commit(marks)
	m.dispatcher.Committed(marks)
}

func (m *simMember) assign(places []partition.Place) {
	m.gate.Lock()
	defer m.gate.Unlock()
	before := make(map[partition.Place]offsets.Done)
	m.mu.Lock()
	for _, at := range places {
		m.position[at], before[at] = m.group.broker.assign(at, m.touch)
	}
	m.mu.Unlock()
	m.dispatcher.Assign(byTopic(places), before)
	m.touchAll()
}

// revoke gives partitions back as session.revoked does.
func (m *simMember) revoke(places []partition.Place) {
	gone := byTopic(places)
	await(simTimeout+simGrace, m.dispatcher.Release(gone)...)
	m.commit(gone)
	m.gate.Lock()
	defer m.gate.Unlock()
	m.dispatcher.Forget(gone)
	m.forget(places)
}

func (m *simMember) forget(places []partition.Place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, at := range places {
		delete(m.position, at)
		m.group.broker.release(at)
	}
}

// stop ends the member in order.
func (m *simMember) stop() {
	await(simTimeout+simGrace, m.dispatcher.Stop())
	m.end()
	m.commit(nil)
}

// kill ends the member as kill -9 does.
func (m *simMember) kill() {
	m.dead.Store(true)
	m.dispatcher.Stop()
	m.end()
}

func (m *simMember) end() {
	close(m.ended)
	m.cut()
	m.workers.Wait()
	m.loops.Wait()
	m.attempter.Close()
	m.forget(m.places())
}

func (m *simMember) places() []partition.Place {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]partition.Place, 0, len(m.position))
	for at := range m.position {
		all = append(all, at)
	}
	return all
}
