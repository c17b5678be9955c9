package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/txn"
	"github.com/anabranch/anabranch/internal/kafka/txn/hanging"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/backlog"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/fence"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/mark"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/pace"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/place"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/session"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/writes"
	"github.com/anabranch/anabranch/internal/waiting"
)

// Settings are what a stage gives its runner.
type Settings struct {
	Input
	Session

	Name       string // of the stage
	Registerer prometheus.Registerer
	Backlog    Gauges
	Losses     *groups.Losses
	MaxRecords int // that one transaction reads

	// Outputs is how the names of topics begin whose records show that anything of the
	// first source was ever processed, and Start where to begin when nobody knows what was.
	// Without Outputs nothing was, unless the group has offsets or a stage with state
	// knows better.
	Outputs string
	Start   Start
	// Writes is how the names of topics begin that the stage writes to.
	Writes []string
}

// What settings are made of, beside what is said in them.
type (
	// Input are the topics that are processed, and the group that reads them.
	Input = mark.Input
	// Session is the process's place in the group and among writers.
	Session = session.Settings
	// Start is where processing begins when nobody knows what was processed.
	Start = place.Start
	// Place is where the processing of a partition begins.
	Place = place.Place
	// Gauges are those of a backlog, by the stage's names.
	Gauges = backlog.Descs
)

// Runner reads topics and has a stage process them, exactly once. It is made by New and
// runs once.
type Runner struct {
	set      Settings
	stage    Stage
	stateful Stateful // nil: the stage has no state
	sparing  Sparing  // nil: it needs all topics that it writes to
	log      *slog.Logger
	ready    atomic.Bool

	// Of the loop.
	rival     kafka.Rival
	sizes     *writes.Sizes
	strikes   writes.Strikes
	gathering pace.Gathering
	full      pace.Budget // of a transaction
	halvings  int         // of it, for brokers that are slow
	fanOut    int         // what a record may lead to, by the stage
	begun     time.Time   // the open transaction; zero: there is none
	identity  session.Identity
	tails     tails

	backlog  *backlog.Backlog
	marks    *mark.Marks
	bookmark mark.Bookmark
	place    place.Settings
	hanging  *hanging.Watch

	// The present session, and what ends its polls with a cause.
	session atomic.Pointer[session.Session]
	end     atomic.Pointer[context.CancelCauseFunc]
}

// New returns a runner that has not yet spoken to a broker. The stage may be
// [Stateful] and [Sparing] too.
func New(stage Stage, set Settings) *Runner {
	marks := mark.New()
	r := &Runner{
		set:      set,
		stage:    stage,
		log:      set.Log,
		sizes:    writes.NewSizes(set.Log),
		strikes:  make(writes.Strikes),
		full:     pace.Full(set.MaxRecords),
		backlog:  backlog.New(set.Group, set.Backlog),
		marks:    marks,
		bookmark: mark.Bookmark{Input: set.Input, Marks: marks},
		place:    place.Settings{Input: set.Input, Losses: set.Losses, Outputs: set.Outputs, Start: set.Start, Marks: marks, Waiting: new(place.Waiting)},
		hanging:  hanging.NewWatch(set.Input, marks, set.TransactionTimeout),
	}
	r.stateful, _ = stage.(Stateful)
	r.sparing, _ = stage.(Sparing)
	set.Registerer.MustRegister(r.backlog)
	return r
}

// Ready returns nil once the process has joined its group, knows its partitions and
// where each of them begins, and as long as none of them stands still with records
// before it.
func (r *Runner) Ready() error {
	if !r.ready.Load() {
		return errors.New(r.set.Name + " is not a member of its consumer group")
	}
	return cmp.Or(r.place.Waits(), r.backlog.Stands())
}

const (
	// sessionPause keeps a process whose broker refuses it from asking in a tight loop.
	sessionPause = 500 * time.Millisecond
	// stopGrace is how long after the request to stop the transaction in hand may
	// still take. The process as a whole has eight seconds.
	stopGrace = 5 * time.Second
	// bookmarkTime bounds the last bookmark of a session, for which the stop waits.
	bookmarkTime = time.Second
)

// Run processes until ctx ends, then finishes the transaction in hand and returns
// nil. A session that failed is closed and replaced by a new one: whether its
// last transaction committed is unknown to it, and known to the broker, from
// which the new one reads the group's offsets. Only a process that another one
// keeps fencing gives up.
func (r *Runner) Run(ctx context.Context) error {
	var looking sync.WaitGroup
	defer looking.Wait()
	own, stop := context.WithCancel(ctx)
	defer stop()
	looking.Go(func() { r.look(own) })
	for ctx.Err() == nil {
		err := r.serve(ctx)
		r.ready.Store(false)
		r.lose(r.marks.Clear()) // the session's callbacks need not have told of all
		r.place.Waiting.Clear()
		if r.fenced(err, time.Now()) {
			return fmt.Errorf("another process uses the transactional id %q or the instance id %q, and they fence each other: give each its own INSTANCE_ID: %w", r.set.TransactionalID, r.set.InstanceID, err)
		}
		if errors.Is(err, errForgotten) && ctx.Err() == nil {
			r.hanging.Finish(ctx, r.identity.IDs(r.set.TransactionalID))
		}
		if err != nil && ctx.Err() == nil {
			r.log.Warn("session ended, building a new one", "error", err)
			waiting.Sleep(ctx, sessionPause)
		}
	}
	return nil
}

// fenced reports whether a session ended because of a rival, for the third time within a
// minute: each takes the name back from the other.
func (r *Runner) fenced(err error, now time.Time) bool {
	var open time.Duration
	if !r.begun.IsZero() {
		open = now.Sub(r.begun)
	}
	s := r.session.Load()
	return s != nil && fence.Rival(err, open, r.set.TransactionTimeout, s.Pulse.Interrupted(now)) && r.rival.Met(now)
}

// serve processes with one session until ctx ends (nil) or the session cannot be
// used any more.
func (r *Runner) serve(ctx context.Context) error {
	r.begun = time.Time{}
	ids := r.identity.IDs(r.set.TransactionalID)
	set := r.set.Session
	set.Balancer = told{cmp.Or(set.Balancer, kgo.CooperativeStickyBalancer()), r.keep}
	s, err := session.Open(set, r.set.Input, ids[0], r.callbacks()...)
	if err != nil {
		return err
	}
	r.session.Store(s)
	work, done := txn.Grace(ctx, stopGrace)
	defer done()
	// A broker that is gone when the stop comes would keep the last flush waiting
	// for ever: closing the client is what ends it.
	late := context.AfterFunc(work, func() { kafka.Close(work, s.Client()) })
	defer func() {
		if late() {
			last, cancel := context.WithTimeout(work, bookmarkTime)
			r.bookmark.Write(last, s.Client())
			cancel()
			s.Close(ctx, work)
		}
	}()
	left := r.left(ctx, ids[0])
	held, err := s.Identify(ctx)
	if err != nil {
		return err
	}
	r.tails.Begin(left)
	if len(held) > 0 {
		r.identity.Next()
		r.leaveOut(writes.Leaderless(held))
		return fmt.Errorf("the last transaction of %q waits for partitions of %v, going on as %q", ids[0], slices.Sorted(maps.Keys(held)), ids[1])
	}
	if err = r.settle(ctx); err != nil {
		return err
	}
	return r.loop(ctx, work, s.GroupTransactSession)
}

// loop processes until ctx ends (nil), or the session cannot be used any more.
func (r *Runner) loop(ctx, work context.Context, s *kgo.GroupTransactSession) error {
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

// interrupt ends the present session with a cause.
func (r *Runner) interrupt(cause error) {
	if end := r.end.Load(); end != nil {
		(*end)(cause)
	}
}
