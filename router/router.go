package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/telemetry/seldom"
	"github.com/anabranch/anabranch/schemas"
)

// Router is the stage. It is made by New and runs once.
type Router struct {
	cfg     Config
	set     Settings
	log     *slog.Logger
	metrics *metrics
	backlog *backlog
	losses  *kafka.Losses
	source  string

	plan   *plan
	filter filter
	ready  atomic.Bool
	fence  kafka.Rival
	// sources is who the events are from, and whether the workspace has heard of it;
	// sourceWait is how long it may take to.
	sources    sources
	sourceWait time.Duration
	// refused holds what aborted a transaction by its size, so that it does not
	// abort the next one.
	refused map[refusal]bool
	limits  limits
	buried  seldom.Log
	// outages are topics that are left out, strikes those that may have to be.
	outages   outages
	strikes   strikes
	full      budget    // of a transaction
	halvings  int       // of it, for brokers that are slow
	begun     time.Time // the open transaction; zero: there is none
	pulse     *pulse    // of the present session
	gathering gathering
	identity  int // which of its transactional ids is used

	marks     *marks
	waiting   waiting
	unkept    atomic.Bool // the log knows that marks can't be kept
	forgotten forgotten

	// Of the present session: its client, and what ends its polls with a cause.
	client atomic.Pointer[kgo.Client]
	end    atomic.Pointer[context.CancelCauseFunc]
}

// New returns a router that has not yet spoken to a broker.
func New(cfg Config, set Settings) (*Router, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if set.Destinations == nil {
		set.Destinations = telemetry.NewDestinations(telemetry.MaxDestinations, set.Registerer, set.Logger)
	}
	return &Router{
		cfg:        cfg,
		set:        set,
		log:        set.Logger,
		metrics:    newMetrics(set.Registerer, set.Destinations),
		backlog:    newBacklog(set.Registerer),
		losses:     kafka.NewLosses("router", set.Registerer, set.Logger, schemas.TopicRawEvents),
		source:     schemas.TopicRawEvents,
		full:       budget{read: cfg.MaxRecords, written: budgetRecords, bytes: budgetBytes},
		refused:    make(map[refusal]bool),
		limits:     make(limits),
		outages:    make(outages),
		strikes:    make(strikes),
		marks:      newMarks(),
		sourceWait: sourceWait,
		forgotten:  forgotten{routed: make(map[int32]int64), doubts: make(map[int32]doubt)},
	}, nil
}

// Name implements the stage's contract.
func (r *Router) Name() string { return "router" }

// Ready returns nil once the router has joined its group, knows its partitions and
// where each of them begins, and as long as none of them stands still with events
// before it.
func (r *Router) Ready() error {
	if !r.ready.Load() {
		return errors.New("router is not a member of its consumer group")
	}
	return cmp.Or(r.waiting.err(), r.backlog.stands())
}

func (r *Router) assigned(_ context.Context, _ *kgo.Client, added map[string][]int32) {
	r.backlog.assign(added[r.source])
	if len(added[r.source]) == 0 {
		r.ready.Store(true)
	} // else once they are placed
}

func (r *Router) revoked(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	r.forget(gone[r.source])
}

func (r *Router) forget(partitions []int32) {
	r.backlog.forget(partitions)
	r.marks.forget(partitions)
	r.waiting.drop(partitions...)
}

// lost is called when the group went on without this router, which also happens
// when no broker answers any more.
func (r *Router) lost(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	r.forget(gone[r.source])
	r.ready.Store(false)
}

// Run routes until ctx ends, then finishes the transaction in hand and returns
// nil. A session that failed is closed and replaced by a new one: whether its
// last transaction committed is unknown to it, and known to the broker, from
// which the new one reads the group's offsets. Only a router that another one
// keeps fencing gives up.
func (r *Router) Run(ctx context.Context) error {
	var looking sync.WaitGroup
	defer looking.Wait()
	own, stop := context.WithCancel(ctx)
	defer stop()
	looking.Go(func() { r.look(own) })
	for ctx.Err() == nil {
		err := r.session(ctx)
		r.ready.Store(false)
		r.marks.clear()
		r.waiting.clear()
		now := time.Now()
		if rival(err, r.circumstances(now), r.cfg.TransactionTimeout) && r.fence.Met(now) {
			return fmt.Errorf("another process uses the transactional id %q or the instance id %q, and they fence each other: give each its own INSTANCE_ID: %w", r.set.TransactionalID, r.set.InstanceID, err)
		}
		if errors.Is(err, errForgotten) && ctx.Err() == nil {
			r.finish(ctx)
		}
		if err != nil && ctx.Err() == nil {
			r.log.Warn("router session ended, building a new one", "error", err)
			pause(ctx, sessionPause)
		}
	}
	return nil
}

func (r *Router) circumstances(now time.Time) circumstances {
	c := circumstances{interrupted: r.pulse.interrupted(now)}
	if !r.begun.IsZero() {
		c.open = now.Sub(r.begun)
	}
	return c
}

// sessionPause keeps a router whose broker refuses it from asking in a tight
// loop.
const sessionPause = 500 * time.Millisecond

// session routes with one client until ctx ends (nil) or the session cannot be
// used any more.
func (r *Router) session(ctx context.Context) error {
	r.begun, r.pulse = time.Time{}, newPulse(time.Now())
	s, err := kgo.NewGroupTransactSession(append(r.options(), kgo.WithHooks(r.pulse))...)
	if err != nil {
		return fmt.Errorf("create the router's session: %w", err)
	}
	r.client.Store(s.Client())
	work, done := grace(ctx, stopGrace)
	defer done()
	// A broker that is gone when the stop comes would keep the last flush waiting
	// for ever: closing the client is what ends it.
	late := context.AfterFunc(work, func() { kafka.Close(work, s.Client()) })
	defer func() {
		if late() {
			last, cancel := context.WithTimeout(work, bookmarkTime)
			r.bookmark(last, s.Client())
			cancel()
			r.leave(ctx, work, s.Client())
			kafka.Close(work, s.Client())
		}
	}()
	if err := r.identify(ctx, s.Client()); err != nil {
		return err
	}
	polls, end := context.WithCancelCause(ctx)
	defer end(nil)
	r.end.Store(&end)
	for polls.Err() == nil {
		if err := r.turn(polls, work, s); err != nil {
			return err
		}
	}
	if ctx.Err() == nil {
		return context.Cause(polls)
	}
	return nil
}

// turn polls once, until ctx ends, and routes what came, which work bounds. An
// error means that the session is of no more use.
func (r *Router) turn(ctx, work context.Context, s *kgo.GroupTransactSession) error {
	// The first event alone, since a plan may be made for it before the budget of the
	// transaction is known; what waits fetched behind it comes at once.
	fetches := s.PollRecords(ctx, 1)
	if err := r.fetchError(ctx, fetches); err != nil {
		return err
	}
	if fetches.NumRecords() == 0 {
		return nil
	}
	fetches, err := r.gather(ctx, s, fetches)
	if err != nil {
		return err
	}
	if !r.sources.await(ctx, r.set.Workspace, fetches, r.sourceWait) {
		return nil // nothing of it has happened, and it comes again
	}
	if err = r.prepare(work); err != nil {
		return err
	}
	committed, err := r.transact(work, s, fetches)
	if err != nil {
		return err
	}
	if !committed {
		// A rebalance needs no pause, a write that failed does; they are told apart
		// by the log alone, and a short pause harms neither.
		pause(ctx, abortPause)
	}
	return nil
}

// abortPause bounds how often a transaction that keeps failing is tried again.
const abortPause = 50 * time.Millisecond

// prepare makes the plan follow the workspace. Records already polled wait for
// it: routed by the old plan they would miss a new destination.
func (r *Router) prepare(ctx context.Context) error {
	s := r.set.Workspace.Load()
	if r.plan.current(s, time.Now()) {
		return nil
	}
	p, err := r.newPlan(ctx, s)
	if err != nil {
		return err
	}
	r.plan = p
	return nil
}

// fetchError passes on what ends the session. The client mends everything else
// by itself and goes on. A topic that was deleted and made anew has another id
// under its old name, which only a new client takes up.
func (r *Router) fetchError(ctx context.Context, fetches kgo.Fetches) error {
	var fatal error
	fetches.EachError(func(topic string, partition int32, err error) {
		cut, lossy := errors.AsType[*kgo.ErrDataLoss](err)
		switch {
		case ctx.Err() != nil:
		case lossy:
			r.log.Error("log lost its tail: events there that were not routed are gone, routing continues at its new end",
				"topic", topic, "partition", partition, "routed_up_to", cut.ConsumedTo, "begin", cut.ResetTo)
			r.losses.Count(topic, kafka.Truncated, cut.ConsumedTo-cut.ResetTo)
		case errors.Is(err, kgo.ErrClientClosed), errors.Is(err, kerr.UnknownTopicID), fenced(err):
			fatal = err
		case errors.Is(err, kerr.OffsetOutOfRange):
			// Where to go on then is decided in one place, as partitions are assigned.
			fatal = fmt.Errorf("fetch %s[%d]: %w", topic, partition, err)
		default:
			r.log.Warn("fetch failed, retrying", "topic", topic, "partition", partition, "error", err)
		}
	})
	return fatal
}
