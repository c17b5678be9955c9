package webhooksink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/lag"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/answers"
	"github.com/anabranch/anabranch/webhook-sink/endpoints"
	"github.com/anabranch/anabranch/webhook-sink/internal/attempt"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/group"
	"github.com/anabranch/anabranch/webhook-sink/internal/journal"
	"github.com/anabranch/anabranch/webhook-sink/internal/metrics"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
	"github.com/anabranch/anabranch/webhook-sink/internal/subscription"
)

// Sink is the stage. It is made by New and runs once.
type Sink struct {
	cfg         Config
	set         Settings
	log         *slog.Logger
	metrics     *metrics.Metrics
	losses      *groups.Losses
	schedule    *schedule.Schedule
	attempt     func(ctx context.Context, dest *workspace.Destination, only []uint64, event []byte, last bool) outcome.Outcome
	attempter   *attempt.Attempter
	answers     *answers.Book // nil: none are kept
	joined      atomic.Bool
	rival       kafka.Rival
	refusals    *subscription.Refusals
	standstills lag.Standstills
	memory      group.Memory     // of commits, for all sessions
	journal     *journal.Journal // for all sessions; nil: none is written

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
	counted := metrics.New(set.Registerer, set.Destinations, set.Logger)
	options := attempt.OptionsOf(&cfg, set.Peers...)
	options.Dial, options.Logger, options.Observe, options.Trace = set.Dial, set.Logger, counted, set.Trace
	if cfg.KeepAnswers {
		options.Answers = answers.New(answers.MostBytes)
	}
	attempter, err := attempt.New(options)
	if err != nil {
		return nil, err
	}
	s := &Sink{
		cfg:       cfg,
		set:       set,
		log:       set.Logger,
		metrics:   counted,
		losses:    groups.NewLosses("webhook_sink", set.Registerer, set.Logger, schemas.FamilyDeliver, schemas.FamilyRetry, schemas.FamilyReplay),
		schedule:  schedule.New(cfg.RetryDelays, cfg.RetryWindow, nil),
		attempt:   attempter.Attempt,
		attempter: attempter,
		answers:   options.Answers,
		refusals:  subscription.NewRefusals(set.Logger),

		commitEvery: config.CommitEvery,
	}
	if set.Journal {
		s.journal = journal.New(journal.Options{Logger: set.Logger, Failed: counted.JournalFailed, Lost: counted.JournalLost})
	}
	return s, nil
}

// heapSlack is memory that is never touched, and so takes none of the machine's. The
// garbage collector counts it: a sink holds a few megabytes, which a busy one renews many
// times a second, and each time a collection would cost as much as a dozen deliveries. With
// it there are half as many, in at most that much more memory.
const heapSlack = 4 << 20

// rejoinPause is how long the sink is out of its group before it joins again.
const rejoinPause = time.Second

// Name implements the stage's contract.
func (s *Sink) Name() string { return "webhook-sink" }

// Answers are what endpoints said to deliveries that failed; nil: they are not kept.
func (s *Sink) Answers() *answers.Book { return s.answers }

// Endpoints tells how the endpoints of a destination fare, as attempts of this process have
// shown.
func (s *Sink) Endpoints(d *workspace.Destination) []endpoints.Endpoint {
	return s.attempter.Endpoints(d)
}

// Ready returns nil once the sink is a member of its group and knows its
// partitions, and as long as none of them stands still that could be read. What waits
// for receivers does not count.
func (s *Sink) Ready() error {
	if !s.joined.Load() {
		return errors.New("webhook-sink is not a member of its consumer group")
	}
	return s.standstills.Err()
}

// Run delivers until ctx ends. It then starts nothing more, lets attempts in
// flight end (they take Config.Timeout and a little at most), commits, leaves the
// group and returns nil, within eight seconds. An error means that running again
// would not help either.
func (s *Sink) Run(ctx context.Context) error {
	defer s.attempter.Close()
	slack := make([]byte, heapSlack)
	defer runtime.KeepAlive(slack)
	for {
		joined, err := s.once(ctx)
		s.joined.Store(false)
		s.standstills.Look(nil)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if err = s.again(joined, err); err != nil {
			return err
		}
		waiting.Sleep(ctx, rejoinPause)
	}
}

// again returns nil when a new session, with a new client, is the cure for what ended
// the last one.
func (s *Sink) again(joined bool, err error) error {
	switch {
	case errors.Is(err, kerr.UnknownTopicID), errors.Is(err, kerr.UnknownTopicOrPartition):
		// Under its old name the topic has another id now.
		s.log.Warn("a topic was deleted or recreated, joining the group again", "error", err)
		return nil
	case !errors.Is(err, kerr.FencedInstanceID):
		return err
	case joined && s.rival.Met(time.Now()):
		return fmt.Errorf("another process keeps taking this one's place in group %s: check that no two processes have the INSTANCE_ID %q: %w",
			Group, s.set.InstanceID, err)
	}
	s.log.Warn("lost the place in the group to another member with the same instance id, joining again: "+
		"after a pause of the broker that may have been this process itself", "instance_id", s.set.InstanceID, "error", err)
	return nil
}

// once is one membership in the group. It reports whether the group has ever given it
// partitions.
func (s *Sink) once(ctx context.Context) (joined bool, err error) {
	changed := s.set.Workspace.Changed()
	s.metrics.Follow(s.set.Workspace.Load())
	var sub *subscription.Subscription
	find := func() (err error) {
		var refused map[string]error
		sub, refused, err = subscription.Find(ctx, s.set.Topics, s.set.Workspace.Load(), s.cfg.RetryDelays)
		s.refusals.Tell(refused)
		return err
	}
	failed := func(err error, pause time.Duration) {
		s.log.Warn("broker request failed, retrying", "request", "look for topics", "pause", pause, "error", err)
	}
	if !waiting.Until(ctx, find, failed) {
		return false, nil
	}
	if s.journal != nil && !waiting.Until(ctx, func() error { return s.findPrints(ctx) }, failed) {
		return false, nil
	}
	session, err := newSession(ctx, s, sub)
	if err != nil {
		return false, err
	}
	err = session.run(ctx, changed)
	return session.served.Load(), err
}
