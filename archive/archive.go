package archive

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/archive/internal/group"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/lag"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/objects"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Settings are what the process gives the stage.
type Settings struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Destinations says which destinations have series of their own. Nil: as many as
	// telemetry.MaxDestinations.
	Destinations *telemetry.Destinations
	// Workspace is followed: a change takes effect with the next object.
	Workspace *workspace.Live
	// Kafka are the options that every client of the process shares.
	Kafka []kgo.Opt
	// Topics creates the topics of archives. It speaks through a client that outlives the
	// stage.
	Topics *topics.Admin
	// Journal says whether the journal is written.
	Journal bool
}

// Archive is the stage. It is made by New and runs once.
type Archive struct {
	cfg     Config
	set     Settings
	log     *slog.Logger
	metrics *metrics
	losses  *groups.Losses
	places  places
	slots   slots
	ends    sync.Map // kafka.Partition to int64: where logs ended that have lost their end
	failed  logging.Sampler[logging.Kind]
	joined  atomic.Bool
	still   lag.Standstills
}

// New returns the stage, which has not yet spoken to a broker. Its errors are those of the
// configuration.
func New(cfg Config, set Settings) (*Archive, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if set.Destinations == nil {
		set.Destinations = telemetry.NewDestinations(telemetry.MaxDestinations, set.Registerer, set.Logger)
	}
	return &Archive{
		cfg: cfg, set: set, log: set.Logger,
		metrics: newMetrics(set.Registerer, set.Destinations),
		losses:  groups.NewLosses("archive", set.Registerer, set.Logger, schemas.FamilyArchive),
		places:  places{store: objects.Open},
	}, nil
}

// Name implements the stage's contract.
func (a *Archive) Name() string { return "archive" }

// Ready returns nil once the stage is a member of its group and its partitions get on, and
// while the workspace has no archive. What waits for a store does not count.
func (a *Archive) Ready() error {
	if !a.joined.Load() {
		return errors.New("archive is not a member of its consumer group")
	}
	return a.still.Err()
}

// rejoinPause is how long the stage is out of its group before it joins again.
const rejoinPause = time.Second

// Run archives until ctx ends. It then starts nothing more, lets objects under way come to
// their end for some seconds, leaves the group and returns nil. An error means that running
// again would not help either.
func (a *Archive) Run(ctx context.Context) error {
	for {
		err := a.once(ctx)
		a.joined.Store(false)
		a.metrics.watch(nil)
		a.still.Look(nil)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // an orderly stop, whatever was interrupted
		}
		if !again(err) {
			return err
		}
		a.log.Warn("joining the group again", "error", err)
		waiting.Sleep(ctx, rejoinPause)
	}
}

// again reports whether a new session, with a new client, is the cure for what ended the
// last one.
func again(err error) bool {
	return errors.Is(err, group.ErrUnknown) || errors.Is(err, group.ErrGone) || kafka.DataLoss(err) ||
		errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.UnknownTopicOrPartition)
}

// once is one membership in the group, and nil when ctx has ended.
func (a *Archive) once(ctx context.Context) error {
	if !a.awaitArchives(ctx) {
		return nil
	}
	s, err := newSession(ctx, a)
	if err != nil {
		return err
	}
	return s.run(ctx)
}

// awaitArchives returns true when there is something to archive. Until then no group is
// joined: most workspaces have no archive.
func (a *Archive) awaitArchives(ctx context.Context) bool {
	for {
		changed := a.set.Workspace.Changed()
		if len(topicsOf(a.set.Workspace.Load())) > 0 {
			return true
		}
		a.joined.Store(true)
		select {
		case <-ctx.Done():
			return false
		case <-changed:
			a.joined.Store(false)
		}
	}
}
