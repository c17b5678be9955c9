package personas

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/seen/copies"
	"github.com/anabranch/anabranch/personas/internal/backfill"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/store"
	"github.com/anabranch/anabranch/schemas"
)

// processor is what the runner runs. It is the loop's, but for the partitions and what
// restores them.
type processor struct {
	cfg      Config
	set      Settings
	store    *attended
	metrics  *metrics
	restorer *changelog.Restorer
	history  *backfill.Reader
	trimmer  *trimmer
	leastLog int64
	copies   *copies.Copies // nil: every call counts
	unread   logging.Sampler[int32]
	// count is how many partitions each of the topics has.
	count int
	// again has a partition's clock tick after some time, since there is more to do than a
	// transaction may.
	again func(num int32, after time.Duration)
	// ticked tells a partition's clock when the tick was written that was read just now.
	ticked func(num int32, written int64)

	// busy is when the last transaction began that had calls which others made, in Unix
	// nanoseconds.
	busy atomic.Int64

	mu    sync.Mutex
	parts map[int32]*partition
	heard heard

	c     *catalogue
	lent  map[string]*catalogue // without what can't be in force yet, by what that is
	open  map[int32]*work       // of the transaction in the making
	batch store.Batch
	call  engine.Call
	first int32 // the partition that was the first in turn
	err   error // of the store: the session ends with it
}

func newProcessor(cfg Config, set Settings, s *attended, m *metrics) *processor {
	p := &processor{
		cfg: cfg, set: set, store: s, metrics: m, trimmer: newTrimmer(set), leastLog: leastLog,
		parts: make(map[int32]*partition), open: make(map[int32]*work), lent: make(map[string]*catalogue),
	}
	s.broken = m.broken
	p.restorer = &changelog.Restorer{
		Log: set.Logger, Kafka: set.Kafka, Topics: set.Topics, Store: p.store, Due: dueOf(),
		Progress: func(read int, left int64) {
			m.restored.Add(float64(read))
			m.left.Set(float64(left))
		},
	}
	p.history = backfill.New(backfill.Settings{
		Logger: set.Logger, Kafka: set.Kafka, Topics: set.Topics, Window: cfg.Dedup,
		Ready: func(num int32) { p.again(num, p.pause(time.Now())) },
		Failed: func(err error) {
			if passed, ok := p.unread.Admit(0, time.Now()); ok {
				set.Logger.Warn("raw-events can't be read for new definitions, retrying", "error", err, "passed_over", passed)
			}
		},
	})
	if cfg.Dedup > 0 {
		p.copies = copies.New(copies.Settings{
			Name: name, Logger: set.Logger, Registerer: set.Registerer, Window: cfg.Dedup, Dir: cfg.seenDir(),
			Kafka: set.Kafka, Client: set.Topics.Client, Calls: schemas.TopicRawEvents, Digests: schemas.TopicSeen, Reader: true,
		})
	}
	return p
}

// Prepare implements [runner.Stage]. A call leads to the state of its user, and as a rule to
// one change.
func (p *processor) Prepare(_ context.Context, fetches kgo.Fetches, _ time.Duration) (fanOut int, err error) {
	if err = p.err; err != nil {
		p.err = nil
		return 0, err
	}
	if d := p.set.Definitions(); p.c == nil || p.c.of != d {
		c, err := compile(d, &p.metrics.counted)
		if err != nil {
			return 0, err
		}
		p.mu.Lock()
		c.seen = p.heard.first(c.print, time.Now())
		p.mu.Unlock()
		p.c = c
		clear(p.lent)
	}
	return 2, p.look(fetches) //nolint:contextcheck // losing waits for no broker
}

// look finds the copies among calls. What was seen before the first definition is read when
// partitions are assigned, which they are anew for that.
func (p *processor) look(fetches kgo.Fetches) (err error) {
	if p.copies == nil {
		return nil
	}
	idle := none(p.c.of)
	fetches.EachPartition(func(of kgo.FetchTopicPartition) {
		known := p.copies.Knows(of.Partition)
		if known && idle {
			p.copies.Lost([]kafka.Partition{{Topic: of.Topic, Num: of.Partition}})
		}
		if !known && !idle && p.has(of.Partition) {
			err = errUnknownCalls
		}
	})
	if idle || err != nil {
		return err
	}
	return p.copies.Look(fetches)
}

var errUnknownCalls = errors.New("something is defined now: which calls were seen before is found out first")

// has reports whether a partition is this process's.
func (p *processor) has(num int32) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parts[num] != nil
}

// unreadable counts records of users that can't be read. Nothing is told of their partition
// then: without the record what was told already would be told again.
func (p *processor) unreadable(err error) {
	if errors.Is(err, engine.ErrRecord) {
		p.metrics.unreadable.Inc()
	}
}

// fail has the transaction dropped, and the session ended, for an error of the store.
func (p *processor) fail(t *runner.Transaction, err error) {
	p.unreadable(err)
	p.err = err
	t.Drop()
}

// Process implements [runner.Stage].
func (p *processor) Process(ctx context.Context, t *runner.Transaction, rec *kgo.Record) (results int) {
	w := p.work(t, rec.Partition)
	if w == nil {
		return 0
	}
	w.from = rec
	var err error
	if rec.Topic == schemas.TopicPersonasInternal {
		results, err = p.message(ctx, t, w, rec)
	} else {
		results, err = p.live(ctx, t, w, rec)
	}
	if err != nil {
		p.fail(t, err)
	}
	return results + 1
}

// Complete implements [runner.Stateful]: it does what is done in small steps, and writes
// the state of all users who were changed, and how far each partition is.
func (p *processor) Complete(ctx context.Context, t *runner.Transaction) {
	for of, next := range t.Next() {
		w := p.work(t, of.Num)
		if w == nil {
			return
		}
		if of.Topic == schemas.TopicRawEvents {
			w.meta.Raw = next
		} else {
			w.meta.Internal = next
		}
		if w.from == nil { // nothing but markers
			w.from = &kgo.Record{Topic: of.Topic, Partition: of.Num, Offset: next - 1}
		}
	}
	for _, num := range p.inTurn() {
		w := p.open[num]
		w.follow()
		if err := p.turn(ctx, t, w); err != nil {
			p.fail(t, err)
			return
		}
		if err := p.rewrite(w); err != nil {
			p.fail(t, err)
			return
		}
		p.write(ctx, t, w)
	}
}

// write writes what changed in a partition. Where nothing is defined that is nothing, as a
// rule: that it is so is written once.
func (p *processor) write(ctx context.Context, t *runner.Transaction, w *work) {
	changed := false
	w.users.Changed(func(id string, state []byte) {
		changed = true
		t.Write(ctx, w.from, changelog.User(w.num, id, state))
	})
	m := &w.meta
	m.Idle = none(p.c.of) && len(m.Leaves)+len(m.Residue)+len(m.Fills) == 0 && m.Sweep == nil
	if changed || !m.Idle || !w.Idle {
		w.written = m.Record(w.num)
		t.Write(ctx, w.from, w.written)
	}
}

// Ended implements [runner.Stage].
func (p *processor) Ended(t *runner.Transaction, outcome runner.Outcome) {
	if p.copies != nil {
		p.copies.Ended(outcome == runner.Committed, t.Next())
	}
	switch outcome {
	case runner.Committed:
		p.metrics.commit(t.Begun())
		if err := p.apply(); err != nil {
			p.err = err // what was not applied is restored
		}
	case runner.Aborted:
		p.metrics.aborted.Inc()
	case runner.Unknown:
	}
	for _, w := range p.open {
		w.users.Abandon()
		if w.left && outcome == runner.Committed {
			p.again(w.num, w.after)
		}
	}
	p.metrics.end()
	clear(p.open)
	p.gauge()
}

// apply writes what the transaction did into the store, for partitions that are still the
// ones that it began with.
func (p *processor) apply() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.batch.Reset()
	for num, w := range p.open {
		if p.parts[num] != w.partition {
			continue
		}
		w.Meta, w.partition.ticks = w.meta, w.ticks
		if w.written != nil {
			w.Next = w.written.Offset + 1
		}
		w.users.Commit(&p.batch)
		p.batch.SetCheckpoint(num, w.Encode())
	}
	err := p.store.Apply(&p.batch)
	for num, w := range p.open {
		if w.Needed > w.trimmed && p.parts[num] == w.partition {
			w.trimmed = w.Needed
			p.trimmer.before(num, w.trimmed)
		}
	}
	if err != nil {
		// What is in memory is ahead of the store now: none of it is to be used.
		for num := range p.open {
			delete(p.parts, num)
		}
	}
	return err
}

// gauge shows how far behind partitions are.
func (p *processor) gauge() {
	p.mu.Lock()
	defer p.mu.Unlock()
	unfilled, overdue := int64(0), time.Duration(0)
	for _, part := range p.parts {
		for i := range part.Fills {
			unfilled += part.Fills[i].Cut - max(part.Fills[i].Next, 0)
		}
		if n := len(part.ticks); n > 0 {
			overdue = max(overdue, time.Duration(part.ticks[n-1].time-part.Time)*time.Millisecond)
		}
	}
	p.metrics.unfilled.Set(float64(unfilled))
	p.metrics.overdue.Set(overdue.Seconds())
}
