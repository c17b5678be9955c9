package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/schemas"
)

// This file is a stage as CONTRIBUTING.md tells to add one: it counts calls.

// tallyGroup is its consumer group.
const tallyGroup = schemas.OwnPrefix + "tally"

// tallyConfig is what an operator may set.
type tallyConfig struct {
	Step int `env:"TALLY_STEP" envDefault:"1" desc:"what a call counts for"`
}

// Validate reports every setting that cannot work.
func (c *tallyConfig) Validate() error {
	if c.Step < 1 {
		return fmt.Errorf("TALLY_STEP=%d: expected at least 1", c.Step)
	}
	return nil
}

// tallyStage declares the stage. Broken is why it is not ready; nil while it is.
func tallyStage(broken func() error) func() *pipeline.Stage {
	return func() *pipeline.Stage {
		cfg := new(tallyConfig)
		return &pipeline.Stage{
			Name:   "tally",
			Does:   "counts calls",
			Help:   "Runs the tally: it reads raw-events and counts each call. Tallies share the partitions.",
			Topics: []pipeline.Topic{{Name: schemas.TopicRawEvents, Why: "reads calls", Consumed: pipeline.Verb{To: "count", Done: "counted"}}},
			Group:  pipeline.Group{Name: tallyGroup, Forgotten: "would count again what it had counted"},
			Config: cfg,
			New: func(p *pipeline.Process) (*pipeline.Made, error) {
				t := &tally{cfg: cfg, given: p, broken: broken, counted: prometheus.NewCounter(prometheus.CounterOpts{Name: "anabranch_tally_events_total", Help: "Calls."})}
				p.Registerer.MustRegister(t.counted)
				return &pipeline.Made{Stage: t}, nil
			},
		}
	}
}

type tally struct {
	cfg     *tallyConfig
	given   *pipeline.Process
	broken  func() error
	counted prometheus.Counter
	joined  atomic.Bool
}

// Name implements the stage's contract.
func (t *tally) Name() string { return "tally" }

// Ready returns nil once the group has given it partitions.
func (t *tally) Ready() error {
	if !t.joined.Load() {
		return errors.New("tally is not a member of its consumer group")
	}
	return t.broken()
}

// Run counts until ctx ends.
func (t *tally) Run(ctx context.Context) error {
	cl, err := kgo.NewClient(slices.Concat(t.given.Kafka("tally"), []kgo.Opt{
		kgo.ConsumerGroup(tallyGroup), kgo.ConsumeTopics(schemas.TopicRawEvents), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { t.joined.Store(true) }),
	})...)
	if err != nil {
		return fmt.Errorf("create Kafka client: %w", err)
	}
	defer cl.Close()
	for ctx.Err() == nil {
		fetches := cl.PollFetches(ctx)
		t.counted.Add(float64(fetches.NumRecords() * t.cfg.Step))
		if err := cl.CommitUncommittedOffsets(context.WithoutCancel(ctx)); err != nil {
			t.given.Logger.Warn("commit failed", "error", err)
		}
	}
	return nil
}
