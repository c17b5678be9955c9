package router

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	kafkatopics "github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Config is what an operator may set.
type Config struct {
	MaxRecords         int           `env:"ROUTER_MAX_RECORDS" envDefault:"2000" desc:"maximum number of events in one transaction"`
	TransactionTimeout time.Duration `env:"ROUTER_TRANSACTION_TIMEOUT" envDefault:"10s" desc:"time after which the broker aborts the transaction of a router that went silent"`
	Dedup              time.Duration `env:"ROUTER_DEDUP_WINDOW" envDefault:"24h" desc:"how long a call is remembered: the same messageId of the same source and user within that time is a copy, which is not routed; 0s: every call is routed"`
	DataDir            string        `env:"ROUTER_DATA_DIR" desc:"directory for what the router remembers of calls, this process's own; without it that is read from the brokers at each start; empty: DATA_DIR/router with the embedded broker, else files in the directory for temporary files"`
	Start              string        `env:"ROUTER_START" envDefault:"auto" desc:"where to begin on raw-events when it is unknown what was routed: auto (wait for another value), first, end or a time like 2026-09-18T03:00:00Z"`
}

const (
	minDedup = time.Minute
	maxDedup = 30 * 24 * time.Hour
)

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.MaxRecords < 1 || c.MaxRecords > 100_000 {
		errs = append(errs, fmt.Errorf("ROUTER_MAX_RECORDS=%d: expected 1 to 100000", c.MaxRecords))
	}
	if c.TransactionTimeout < time.Second || c.TransactionTimeout > 15*time.Minute {
		errs = append(errs, fmt.Errorf("ROUTER_TRANSACTION_TIMEOUT=%s: expected 1s to 15m", c.TransactionTimeout))
	}
	if c.Dedup != 0 && (c.Dedup < minDedup || c.Dedup > maxDedup) {
		errs = append(errs, fmt.Errorf("ROUTER_DEDUP_WINDOW=%s: expected 1m to 720h, or 0s for none", c.Dedup))
	}
	if _, err := c.start().Time(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c Config) start() runner.Start { return runner.Start{Variable: "ROUTER_START", Value: c.Start} }

// Settings are what the process gives the router.
type Settings struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Destinations says which destinations have series of their own. Nil: as many as
	// telemetry.MaxDestinations.
	Destinations *telemetry.Destinations
	Workspace    *workspace.Live
	// Trace follows events that are sampled. Nil: tracing is off.
	Trace *trace.Tracer
	// Kafka are the options that every client of the process shares.
	Kafka []kgo.Opt
	// Topics creates a destination's topic should it be missing.
	Topics *kafkatopics.Admin
	// The router's place in its group and among writers, as [runner.Session] has it.
	TransactionalID, InstanceID string
	Returns                     bool
	// Journal says whether the journal is written.
	Journal bool
	// DataDir is where to keep what is remembered if the config does not say it; empty:
	// nowhere.
	DataDir string
}

// Group is the router's consumer group.
const Group = schemas.OwnPrefix + "router"

// Bookmark is the group that holds a copy of the router's offsets. It has no members,
// and brokers are asked never to forget it.
const Bookmark = Group + "-bookmark"
