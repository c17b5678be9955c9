package router

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/seen/copies"
	"github.com/anabranch/anabranch/internal/seen/digest"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/router/internal/sources"
	"github.com/anabranch/anabranch/schemas"
)

// Router is the stage. It is made by New and runs once.
type Router struct {
	*runner.Runner

	stage *stage
}

// New returns a router that has not yet spoken to a broker.
func New(cfg Config, set Settings) (*Router, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if set.Destinations == nil {
		set.Destinations = telemetry.NewDestinations(telemetry.MaxDestinations, set.Registerer, set.Logger)
	}
	s := newStage(cfg, set)
	var options []kgo.Opt
	if set.Journal {
		options = append(options, kgo.RecordPartitioner(journal.Partitioner(kgo.StickyKeyPartitioner(nil))))
	}
	return &Router{stage: s, Runner: runner.New(s, runner.Settings{
		Name: "router",
		Input: runner.Input{
			Log: set.Logger, Kafka: set.Kafka, Topics: set.Topics,
			Sources: []string{schemas.TopicRawEvents}, Group: Group, Copy: Bookmark,
		},
		Session: runner.Session{
			TransactionalID: set.TransactionalID, TransactionTimeout: cfg.TransactionTimeout,
			InstanceID: set.InstanceID, Returns: set.Returns, Options: options,
		},
		Registerer: set.Registerer,
		Backlog:    gauges(),
		Losses:     groups.NewLosses("router", set.Registerer, set.Logger, schemas.TopicRawEvents),
		MaxRecords: cfg.MaxRecords,
		Outputs:    schemas.DeliverTopic(""),
		Writes:     []string{schemas.DeliverTopic(""), schemas.TopicDeadLetters, schemas.TopicJournal},
		Start:      cfg.start(),
	})}, nil
}

// Name implements the stage's contract.
func (r *Router) Name() string { return "router" }

// Run implements the stage's contract: it routes until ctx ends.
func (r *Router) Run(ctx context.Context) error {
	var announcing sync.WaitGroup
	defer announcing.Wait()
	own, stop := context.WithCancel(ctx)
	defer stop()
	announcing.Go(func() { r.stage.announce(own) })
	if r.stage.copies == nil {
		return r.Runner.Run(ctx)
	}
	return r.stage.copies.Run(ctx, r.Runner.Run)
}

// announce creates the series of the workspace's destinations until ctx ends: the
// loop sees a workspace with the first event that it routes by it.
func (s *stage) announce(ctx context.Context) {
	for ctx.Err() == nil {
		changed := s.set.Workspace.Changed()
		s.metrics.follow(s.set.Workspace.Load())
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// sourceWait is how long events of a source that the workspace lacks are held for it.
const sourceWait = 5 * time.Second

// stage routes what its runner reads. It is the loop's, but for the table.
type stage struct {
	set     Settings
	metrics *metrics
	filter  filter
	table   atomic.Pointer[table]
	outages outages
	buried  logging.Sampler[logging.Kind]
	copies  *copies.Copies // nil: every call is routed
	entries *entries       // nil: no journal is written
	// sources is who the events are from, and whether the workspace has heard of it;
	// sourceWait is how long it may take to.
	sources    sources.Sources
	sourceWait time.Duration

	// Of the transaction in the making: it counts, and its spans end, with the commit.
	decisions []decision
	spans     []trace.Span
}

func newStage(cfg Config, set Settings) *stage {
	s := &stage{
		set:        set,
		metrics:    newMetrics(set.Registerer, set.Destinations),
		outages:    make(outages),
		sourceWait: sourceWait,
	}
	if cfg.Dedup > 0 {
		s.copies = copies.New(copies.Settings{
			Name: "router", Logger: set.Logger, Registerer: set.Registerer, Window: cfg.Dedup, Dir: cmp.Or(cfg.DataDir, set.DataDir),
			Kafka: set.Kafka, Client: set.Topics.Client, Calls: schemas.TopicRawEvents, Digests: schemas.TopicSeen,
		})
	}
	if set.Journal {
		s.entries = newEntries(set, s.copies)
	}
	return s
}

// Prepare implements [runner.Stage]: the table follows the workspace, which is waited
// for where it lacks a source. Records that have been polled wait for it: routed by the
// old table they would miss a new destination.
func (s *stage) Prepare(ctx context.Context, fetches kgo.Fetches, patience time.Duration) (fanOut int, err error) {
	if !s.sources.Await(ctx, s.set.Workspace, fetches, min(s.sourceWait, patience)) {
		return 0, context.Cause(ctx)
	}
	ws := s.set.Workspace.Load()
	p := s.table.Load()
	if !p.current(ws, time.Now()) {
		if p, err = s.newTable(ctx, ws); err != nil {
			return 0, err
		}
		s.table.Store(p)
	}
	if s.copies != nil {
		err = s.copies.Look(fetches)
	}
	return p.fanOut, err
}

// Process implements [runner.Stage].
func (s *stage) Process(ctx context.Context, t *runner.Transaction, rec *kgo.Record) (results int) {
	n := len(s.decisions)
	s.route(ctx, t, rec)
	return len(s.decisions) - n
}

// Complete implements [runner.Stateful]: what is remembered needs no record, but for the
// journal.
func (s *stage) Complete(ctx context.Context, t *runner.Transaction) {
	if s.entries != nil {
		s.entries.complete(ctx, t)
	}
}

// Restore implements [runner.Stateful].
func (s *stage) Restore(ctx context.Context, at map[kafka.Partition]runner.Place) error {
	if s.entries != nil {
		s.entries.restore(at)
	}
	if s.copies == nil {
		return nil
	}
	from := make(map[int32]digest.At, len(at))
	for p, where := range at {
		from[p.Num] = digest.At{Next: where.Next, Newest: where.Newest, TopicID: where.Of}
	}
	return s.copies.Restore(ctx, from)
}

// Lost implements [runner.Stateful].
func (s *stage) Lost(partitions []kafka.Partition) {
	if s.copies != nil {
		s.copies.Lost(partitions)
	}
}

// Ended implements [runner.Stage].
func (s *stage) Ended(t *runner.Transaction, outcome runner.Outcome) {
	if s.copies != nil {
		s.copies.Ended(outcome == runner.Committed, t.Next())
	}
	switch outcome {
	case runner.Committed:
		s.metrics.commit(s.decisions, t.Begun())
		for _, span := range s.spans {
			span.End()
		}
	case runner.Aborted:
		s.metrics.abort(t.Begun())
		s.table.Store(nil) // it may have failed for a topic that was deleted
	case runner.Unknown:
		s.table.Store(nil)
	}
	if s.entries != nil {
		s.entries.ended()
	}
	s.decisions, s.spans = s.decisions[:0], nil
}
