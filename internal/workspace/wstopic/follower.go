package wstopic

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wsrecord"
	"github.com/anabranch/anabranch/internal/workspace/wsseal"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// startTimeout and startPause make a missing topic or broker known within
	// two seconds, and found soon after it appears.
	startTimeout = 2 * time.Second
	startPause   = 250 * time.Millisecond
)

// FollowerSettings are what a [Follower] works with.
type FollowerSettings struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Kafka      []kgo.Opt       // what every client of the process shares
	Live       *workspace.Live // where snapshots are put in force
	// Secrets says that this process has to know the secrets of destinations, and Keys
	// open them. Without it they stay as the topic has them.
	Secrets bool
	Keys    *wsseal.Ring
	// Regulations takes in what the topic says about single users: what it held at
	// the start before the follower is ready, and then each record as soon as it was
	// read. In the topic `workspace` only earlier releases wrote such records. Nil: this
	// process has no use for it.
	Regulations RenewableRegulations
}

// Follower is the service that keeps a [Live] as the topic says. Nothing is put
// in force before the topic was read to the end that it had at the start, and
// of a transaction nothing before all of it; what is in force stays so while
// brokers are away, and when the topic is deleted, until another one of its name
// holds a workspace.
type Follower struct {
	set     FollowerSettings
	topic   string
	log     *slog.Logger
	metrics *metrics
	trouble logging.Sampler[string]
	ready   atomic.Bool

	outdated bool // it was said that a later release writes to the topic
}

// NewFollower returns a follower, to be run once. The registerer must not know
// another one.
func NewFollower(set FollowerSettings) *Follower {
	return &Follower{
		set:     set,
		topic:   schemas.TopicWorkspace,
		log:     set.Logger,
		metrics: newMetrics(set.Registerer),
	}
}

// NewRegulationsFollower returns a follower of the topic `regulations`, beside one of the
// workspace: it hands over what that topic says about single users, and does nothing else.
func NewRegulationsFollower(set FollowerSettings, beside *Follower) *Follower {
	return &Follower{set: set, topic: schemas.TopicRegulations, log: set.Logger, metrics: beside.metrics}
}

// Name returns the service's name in logs.
func (f *Follower) Name() string { return f.topic }

// Ready returns nil once the topic was read to the end it had at the start.
func (f *Follower) Ready() error {
	if !f.ready.Load() {
		return fmt.Errorf("the %s topic is not read to its end yet", f.topic)
	}
	return nil
}

// Run follows the topic until ctx ends and then returns nil. A topic that does
// not exist yet is waited for. The only errors are unusable client options.
func (f *Follower) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := f.follow(ctx); err != nil {
			return err
		}
	}
	return nil
}

// follow reads one topic of the name, until ctx ends or the topic is replaced.
func (f *Follower) follow(ctx context.Context) error {
	t, err := newTail(f.set.Kafka, f.topic)
	if err != nil {
		return err
	}
	defer t.cl.Close()
	// At the start an empty topic is a state too. One that takes the place of another
	// is empty because nobody has applied a workspace to it yet: to put that in force
	// would refuse every call and deliver nothing.
	t.stale = !f.ready.Load() && f.topic == schemas.TopicWorkspace
	finish := f.handOver(t)
	caughtUp := sync.OnceFunc(func() {
		finish()
		if f.topic == schemas.TopicRegulations {
			f.ready.Store(true)
		} else if !t.stale {
			f.log.Warn("the workspace topic holds no workspace, the last one stays in force: put one in force with `anabranch apply -f FILE`")
		}
	})
	if !f.start(ctx, t) {
		return nil
	}
	for ctx.Err() == nil {
		if t.settled() {
			caughtUp()
			f.enforce(t)
		}
		if f.poll(ctx, t) {
			return nil
		}
	}
	return nil
}

// start tries until the topic can be read; false means that ctx has ended.
func (f *Follower) start(ctx context.Context, t *tail) bool {
	for {
		attempt, cancel := context.WithTimeout(ctx, startTimeout)
		err := t.start(attempt)
		cancel()
		if err == nil {
			return true
		}
		f.complain(ctx, err)
		if !waiting.Sleep(ctx, startPause) {
			return false
		}
	}
}

// poll takes in what there is; true means that the topic was replaced.
func (f *Follower) poll(ctx context.Context, t *tail) bool {
	err := t.poll(ctx, f.observe)
	if err == nil || ctx.Err() != nil {
		return false
	}
	if ranges.Gone(err) {
		if f.topic == schemas.TopicRegulations {
			f.log.Error("the regulations topic was deleted or has lost records; what this process knows of it stays in force", "error", err)
		} else {
			f.log.Error("the workspace topic was deleted or has lost records; the last workspace stays in force until the topic holds one: apply it again",
				"topic", f.topic, "error", err)
		}
		return true
	}
	f.complain(ctx, err)
	return false
}

func (f *Follower) observe(err error) {
	if err == nil {
		f.metrics.read.Inc()
		return
	}
	f.metrics.unreadable.Inc()
	if wsrecord.Later(err) {
		if !f.outdated {
			f.outdated = true
			f.log.Warn("a later release wrote to the workspace; what this one does not understand stays as it was, further such records are only counted: upgrade this process", "error", err)
		}
		return
	}
	f.log.Error("record skipped, the last readable one stays in force", "topic", f.topic, "error", err)
}

func (f *Follower) complain(ctx context.Context, err error) {
	if _, ok := f.trouble.Admit(err.Error(), time.Now()); ok && ctx.Err() == nil {
		f.log.Warn("topic can't be read, retrying", "topic", f.topic, "error", err)
	}
}

// enforce puts the state that was read in force, unless it is.
func (f *Follower) enforce(t *tail) {
	if !t.stale {
		return
	}
	t.stale = false
	snapshot := f.open(t.Snapshot())
	f.set.Live.Store(snapshot)
	f.metrics.sources.Set(float64(len(snapshot.Sources())))
	f.metrics.destinations.Set(float64(len(snapshot.Destinations())))
	f.log.Info("workspace in force", "sources", len(snapshot.Sources()), "destinations", len(snapshot.Destinations()), "offset", t.next)
	f.ready.Store(true)
	if len(snapshot.Sources()) == 0 {
		f.log.Warn("the workspace has no sources, so every call is refused for its write key: put one in force with `anabranch apply -f FILE`")
	}
}
