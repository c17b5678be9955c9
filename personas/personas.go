package personas

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/personas/internal/store"
	"github.com/anabranch/anabranch/schemas"
)

const name = "personas"

// Personas is the stage. It is made by New and runs once.
type Personas struct {
	*runner.Runner

	set       Settings
	processor *processor
	clock     *clock
}

// New returns a stage that has not yet spoken to a broker. Run opens its store.
func New(cfg Config, set Settings) (*Personas, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := attend()
	p := newProcessor(cfg, set, s, newMetrics(set.Registerer, s))
	c := newClock(set, p.ticking)
	p.again = c.again
	p.ticked = func(num int32, written int64) { c.heard(num, written, time.Now()) }
	return &Personas{set: set, processor: p, clock: c, Runner: runner.New(p, runner.Settings{
		Name: name,
		Input: runner.Input{
			Log: set.Logger, Kafka: set.Kafka, Topics: set.Topics,
			Sources: []string{schemas.TopicRawEvents, schemas.TopicPersonasInternal}, Group: Group, Copy: Bookmark,
		},
		Session: runner.Session{
			TransactionalID: set.TransactionalID, TransactionTimeout: cfg.TransactionTimeout,
			InstanceID: set.InstanceID, Returns: set.Returns,
			// Partitions of one number sit together.
			Balancer: kgo.RangeBalancer(),
			Options:  []kgo.Opt{kgo.RecordPartitioner(partitioner())},
		},
		Registerer: set.Registerer,
		Backlog:    gauges(),
		Losses:     groups.NewLosses(name, set.Registerer, set.Logger, schemas.TopicRawEvents, schemas.TopicPersonasInternal),
		MaxRecords: cfg.MaxRecords,
		Writes:     []string{schemas.TopicRawEvents, schemas.TopicPersonasInternal, schemas.TopicPersonasChangelog},
	})}, nil
}

// Name implements the stage's contract.
func (p *Personas) Name() string { return name }

// Run implements the stage's contract: it works until ctx ends, or its store fails.
func (p *Personas) Run(ctx context.Context) (err error) {
	defer p.processor.history.Close()
	if err = p.processor.store.open(func() (store.Store, error) { return p.processor.cfg.open(p.set.Logger) }); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.processor.store.Close()) }()
	if err = p.copartitioned(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // an orderly stop
		}
		return err
	}
	var ticking sync.WaitGroup
	defer ticking.Wait()
	own, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ticking.Go(func() {
		select {
		case <-own.Done():
		case failure := <-p.processor.store.failed:
			stop(failure)
		}
	})
	ticking.Go(func() { p.processor.trimmer.run(own) })
	ticking.Go(func() {
		if stands := p.clock.run(own, p.set.Kafka); stands != nil {
			p.set.Logger.Error("clocks of partitions stand still", "error", stands)
		}
	})
	run := p.Runner.Run
	if c := p.processor.copies; c != nil {
		run = func(ctx context.Context) error { return c.Run(ctx, p.Runner.Run) }
	}
	err = run(own)
	if ctx.Err() == nil && own.Err() != nil {
		err = errors.Join(err, context.Cause(own)) // of the store
	}
	return err
}

// copartitioned reports topics that can't be worked with.
func (p *Personas) copartitioned(ctx context.Context) error {
	want, err := p.set.Topics.Partitions(ctx, schemas.TopicRawEvents)
	if err != nil {
		return err
	}
	p.processor.count = want
	for _, topic := range []string{schemas.TopicPersonasInternal, schemas.TopicPersonasChangelog} {
		n, err := p.set.Topics.Partitions(ctx, topic)
		if err != nil {
			return err
		}
		if n != want {
			return fmt.Errorf("%s has %d partitions, and %s has %d: expected as many, since what concerns a user is on one partition of each; "+
				"delete %s and %s while no personas runs, and create them with TOPIC_PARTITIONS=%d", topic, n, schemas.TopicRawEvents, want,
				schemas.TopicPersonasInternal, schemas.TopicPersonasChangelog, want)
		}
	}
	return nil
}

// partitioner writes the stage's own topics where a record says, and all others by the
// key, as every producer does.
func partitioner() kgo.Partitioner {
	byKey, manual := kgo.StickyKeyPartitioner(nil), kgo.ManualPartitioner()
	return kgo.BasicConsistentPartitioner(func(topic string) func(*kgo.Record, int) int {
		switch topic {
		case schemas.TopicPersonasInternal, schemas.TopicPersonasChangelog:
			return manual.ForTopic(topic).Partition
		}
		return byKey.ForTopic(topic).Partition
	})
}
