package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// TransactionalIDs begins the transactional ids of runs, one for each: what the router is
// allowed.
const TransactionalIDs = schemas.OwnPrefix + "router-replay-"

// Settings are what the service works with. All are needed but where it is said.
type Settings struct {
	Logger       *slog.Logger
	Registerer   prometheus.Registerer
	Destinations *telemetry.Destinations
	Workspace    *workspace.Live
	// Unseal puts the keys of archives in the clear that this process can. Nil: they are.
	Unseal   func(*workspace.Snapshot) *workspace.Snapshot
	Register *regulation.Register // nil: nobody is suppressed
	Kafka    []kgo.Opt
	Topics   *topics.Admin
	Judge    func() Judge
	// Readers are the groups that read a topic: what they have not read yet of a
	// destination's replays bounds what is written to it.
	Readers func(topic string) []string
	// Alone says that no other process carries out runs on these brokers.
	Alone bool
}

// Service carries out the runs of the topic `replays`. It is made by New and runs once.
type Service struct {
	set     Settings
	log     *slog.Logger
	metrics *metrics
	book    *Book
	trouble logging.Sampler[string]

	mu     sync.Mutex
	inHand map[string]bool
	ended  chan outcome
}

// outcome is how an errand came to its end.
type outcome struct {
	id  string
	err error
}

// New returns a service that has not yet spoken to a broker.
func New(set Settings) *Service {
	return &Service{
		set: set, log: set.Logger, metrics: newMetrics(set.Registerer, set.Destinations), book: NewBook(),
		inHand: make(map[string]bool), ended: make(chan outcome),
	}
}

// shelves are where this process finds events.
func (s *Service) shelves() shelves {
	return shelves{s.set.Kafka, s.set.Topics, func() *workspace.Snapshot {
		if s.set.Unseal == nil {
			return s.set.Workspace.Load()
		}
		return s.set.Unseal(s.set.Workspace.Load())
	}}
}

// Name is the service's name in logs.
func (s *Service) Name() string { return "replays" }

// Run carries out runs until ctx ends; what is in hand is then committed and left to others.
// It returns nil: there is nothing that another attempt might not mend.
func (s *Service) Run(ctx context.Context) error {
	var following, errands sync.WaitGroup
	caughtUp := make(chan struct{})
	following.Go(func() { s.follow(ctx, sync.OnceFunc(func() { close(caughtUp) })) })
	defer following.Wait()
	select {
	case <-caughtUp:
	case <-ctx.Done():
		return nil
	}
	todo := &agenda{alone: s.set.Alone, known: make(map[string]*appointment)}
	surveys := make(map[string]*errand)
	for ctx.Err() == nil {
		changed := s.book.Changed()
		e, wait := todo.next(s.book.All(), s.isInHand, time.Now())
		if e != nil {
			id := e.Run.ID
			if surveys[id] == nil {
				surveys[id] = newErrand(s, id)
			}
			job := surveys[id]
			s.hold(id, true)
			errands.Go(func() { s.report(ctx, outcome{id, job.carryOut(ctx)}) })
			continue
		}
		s.rest(ctx, changed, wait, func(o outcome) {
			s.hold(o.id, false)
			if o.err == nil {
				delete(surveys, o.id)
				return
			}
			todo.failed(o.id, time.Now())
			s.complain(ctx, o)
		})
	}
	errands.Wait()
	return nil
}

// rest waits for a change, for an errand that ends, or until wait is over; zero is for ever.
func (s *Service) rest(ctx context.Context, changed <-chan struct{}, wait time.Duration, ended func(outcome)) {
	var over <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case o := <-s.ended:
		ended(o)
	case <-changed:
	case <-over:
	case <-ctx.Done():
	}
}

func (s *Service) report(ctx context.Context, o outcome) {
	select {
	case s.ended <- o:
	case <-ctx.Done():
	}
}

func (s *Service) isInHand(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inHand[id]
}

func (s *Service) hold(id string, inHand bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if inHand {
		s.inHand[id] = true
	} else {
		delete(s.inHand, id)
	}
	s.metrics.runs.Set(float64(len(s.inHand)))
}

func (s *Service) complain(ctx context.Context, o outcome) {
	switch {
	case ctx.Err() != nil:
	case errors.Is(o.err, errTakenOver):
		s.log.Info("replay is being carried out by another process", "run", o.id)
	default:
		s.log.Warn("replay stands still, retrying", "run", o.id, "error", o.err)
	}
}

// follow keeps the book until ctx ends.
func (s *Service) follow(ctx context.Context, caughtUp func()) {
	for ctx.Err() == nil {
		err := s.followOne(ctx, caughtUp)
		if ctx.Err() != nil {
			return
		}
		if _, ok := s.trouble.Admit(fmt.Sprint(err), time.Now()); ok {
			s.log.Warn("topic can't be read, retrying", "topic", schemas.TopicReplays, "error", err)
		}
		waiting.Sleep(ctx, time.Second)
	}
}

// followOne reads the topic from its start on, until the client can't go on.
func (s *Service) followOne(ctx context.Context, caughtUp func()) error {
	if err := s.set.Topics.Ensure(ctx, schemas.TopicReplays); err != nil {
		return err
	}
	all, err := ranges.List(ctx, s.set.Topics.Client, schemas.TopicReplays, time.Time{})
	if err != nil {
		return err
	}
	span := &ranges.Span{Topic: schemas.TopicReplays, Next: all[0].Start, End: math.MaxInt64}
	if err = ranges.Read(ctx, s.set.Kafka, []*ranges.Span{{Topic: span.Topic, Next: span.Next, End: all[0].End}}, ranges.Limits{Patience: patience}, s.take); err != nil {
		return err
	}
	caughtUp()
	span.Next = all[0].End
	cl, err := ranges.Open(s.set.Kafka, 250*time.Millisecond, span)
	if err != nil {
		return err
	}
	defer cl.Close()
	for ctx.Err() == nil {
		fetches := cl.PollFetches(ctx)
		var failed error
		fetches.EachError(func(_ string, _ int32, err error) { failed = errors.Join(failed, err) })
		fetches.EachRecord(func(rec *kgo.Record) {
			if !rec.Attrs.IsControl() {
				_ = s.take(span, rec)
			}
		})
		if failed != nil {
			return failed
		}
	}
	return context.Cause(ctx)
}

// take takes a record in, or says why not.
func (s *Service) take(_ *ranges.Span, rec *kgo.Record) error {
	if err := s.book.Add(rec); err != nil {
		if _, ok := s.trouble.Admit(err.Error(), time.Now()); ok {
			s.log.Error("record skipped, the last readable one stays in force", "error", err)
		}
	}
	return nil
}
