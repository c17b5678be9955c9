package webhooksink

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/webhook-sink/internal/account"
	"github.com/anabranch/anabranch/webhook-sink/internal/attempt"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
	"github.com/anabranch/anabranch/webhook-sink/internal/subscription"
	"github.com/anabranch/anabranch/webhook-sink/internal/usual"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
)

// Sink is the stage. It is made by New and runs once.
type Sink struct {
	cfg      Config
	set      Settings
	log      *slog.Logger
	account  *account.Account
	schedule *schedule.Schedule
	attempt  attempt.Func
	breakers func() attempt.Breakers
	close    func()
	joined   atomic.Bool
	stands   kafka.Standstills

	commitEvery time.Duration
}

// New returns a sink that has not yet spoken to a broker. Its errors are those of
// the configuration.
func New(cfg Config, set Settings) (*Sink, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if set.Destinations == nil {
		set.Destinations = telemetry.NewDestinations(telemetry.MaxDestinations, set.Registerer, set.Logger)
	}
	books := account.New(set.Registerer, set.Destinations, set.Logger)
	attempter, err := attempt.New(attempt.Options{
		Timeout: cfg.Timeout,
		Idle:    cfg.MaxInFlight,
		Allow:   cfg.AllowNetworks,
		Peers:   set.Peers,
		ExtraCA: cfg.ExtraCAFile,
		Dial:    set.Dial,
		Breaker: usual.Breaker(cfg.RetryDelays),
		Logger:  set.Logger,
		Observe: books,
		Trace:   set.Trace,
	})
	if err != nil {
		return nil, err
	}
	return &Sink{
		cfg:      cfg,
		set:      set,
		log:      set.Logger,
		account:  books,
		schedule: schedule.New(cfg.RetryDelays, cfg.RetryWindow, nil),
		attempt:  attempter.Attempt,
		breakers: attempter.Breakers,
		close:    attempter.Close,

		commitEvery: usual.CommitEvery,
	}, nil
}

// rejoinPause is how long the sink is out of its group before it joins again.
const rejoinPause = time.Second

// Name implements the stage's contract.
func (s *Sink) Name() string { return "webhook-sink" }

// Ready returns nil once the sink is a member of its group and knows its
// partitions, and as long as none of them stands still that could be read. What waits
// for receivers does not count.
func (s *Sink) Ready() error {
	if !s.joined.Load() {
		return errors.New("webhook-sink is not a member of its consumer group")
	}
	return s.stands.Err()
}

// Run delivers until ctx ends. It then starts nothing more, lets attempts in
// flight end (they take Config.Timeout and a little at most), commits, leaves the
// group and returns nil, within eight seconds. An error means that running again
// would not help either.
func (s *Sink) Run(ctx context.Context) error {
	defer s.close()
	for {
		err := s.once(ctx)
		s.joined.Store(false)
		s.stands.Look(nil)
		if !errors.Is(err, kerr.UnknownTopicID) || ctx.Err() != nil {
			return err
		}
		// Under its old name the topic has another id now, which only a new client
		// takes up.
		s.log.Warn("a topic was deleted or made anew, joining the group again", "error", err)
		work.Rest(ctx, rejoinPause)
	}
}

// once is one membership in the group.
func (s *Sink) once(ctx context.Context) error {
	changed := s.set.Workspace.Changed()
	s.account.Follow(s.set.Workspace.Load())
	var sub *subscription.Subscription
	ok := s.persist(ctx, "find topics", func() (err error) {
		sub, err = subscription.Find(ctx, s.set.Topics, s.set.Workspace.Load(), s.cfg.RetryDelays)
		return err
	})
	if !ok {
		return nil
	}
	session, err := newSession(ctx, s, sub)
	if err != nil {
		return err
	}
	return session.run(ctx, changed)
}
