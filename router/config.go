package router

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Config is what an operator may set.
type Config struct {
	MaxRecords         int           `env:"ROUTER_MAX_RECORDS" envDefault:"2000" desc:"events in one transaction at most"`
	TransactionTimeout time.Duration `env:"ROUTER_TRANSACTION_TIMEOUT" envDefault:"10s" desc:"after which the broker aborts the transaction of a router that went silent"`
	Start              string        `env:"ROUTER_START" envDefault:"auto" desc:"where to begin on raw-events when nobody knows what was routed: auto (wait to be told), first, end or a time like 2026-09-18T03:00:00Z"`
}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.MaxRecords < 1 || c.MaxRecords > 100_000 {
		errs = append(errs, fmt.Errorf("ROUTER_MAX_RECORDS=%d: expected 1 to 100000", c.MaxRecords))
	}
	if c.TransactionTimeout < time.Second || c.TransactionTimeout > 15*time.Minute {
		errs = append(errs, fmt.Errorf("ROUTER_TRANSACTION_TIMEOUT=%s: expected 1s to 15m", c.TransactionTimeout))
	}
	if _, err := startAt(c.Start); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

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
	Topics *kafka.Topics
	// TransactionalID is one router's alone among all that run, and the same
	// again when that router comes back: its first act then ends what its
	// predecessor left open. On a broker that dies together with the router it is
	// new at each start.
	TransactionalID string
	// InstanceID makes the router a static member of its consumer group: its place is
	// kept while it is gone, for its session's eight seconds, and if it is back
	// within them nobody else has to notice. Empty: an ordinary member.
	InstanceID string
	// Returns says that the router comes back under its InstanceID after an orderly
	// stop too. False: it gives its partitions to the others when it stops, and its
	// place is kept for it only after a crash.
	Returns bool
}

// Group is the router's consumer group.
const Group = "anabranch-router"

// Measured with routers killed every three seconds: without a static member,
// short timeouts and a short transaction timeout one kill -9 cost 20 s of
// silence, and a few of them stalled the group for minutes.
const (
	sessionTimeout    = 8 * time.Second
	rebalanceTimeout  = 12 * time.Second
	heartbeatInterval = time.Second
	// fetchWait is how long a fetch may wait at the broker for a first record.
	fetchWait = 500 * time.Millisecond
	// bufferedBytes bounds what waits for the brokers' acknowledgement.
	bufferedBytes = 32 << 20
)

func (r *Router) options() []kgo.Opt {
	opts := append([]kgo.Opt{}, r.set.Kafka...)
	place := &placement{Router: r}
	opts = append(opts,
		kgo.ConsumerGroup(Group),
		kgo.ConsumeTopics(r.source),
		kgo.TransactionalID(r.transactionalID()),
		kgo.TransactionTimeout(r.cfg.TransactionTimeout),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// Markers of transactions come with the records: only so is it known, and
		// committed, that nothing but a marker is left of a partition.
		kgo.KeepControlRecords(),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(sessionTimeout),
		kgo.RebalanceTimeout(rebalanceTimeout),
		kgo.HeartbeatInterval(heartbeatInterval),
		kgo.FetchMaxWait(fetchWait),
		kgo.FetchMaxBytes(2<<20),
		kgo.FetchMaxPartitionBytes(128<<10),
		// The end of the transaction flushes: waiting for company would only add to
		// the latency.
		kgo.ProducerLinger(0),
		// What is written faster than the brokers take it waits in the loop: an event
		// of a transaction with many destinations is held once, its batches are not.
		kgo.MaxBufferedBytes(bufferedBytes),
		kgo.ProducerBatchCompression(kgo.SnappyCompression(), kgo.NoCompression()),
		// Where partitions begin is ours to decide, once they are assigned: a position
		// that the log does not hold ends the session.
		kgo.OnOffsetsFetched(place.fetched),
		kgo.AdjustFetchOffsetsFn(place.place),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.MaxVersions(kafka.LastingVersions()),
		kgo.OnPartitionsAssigned(r.assigned),
		kgo.OnPartitionsRevoked(r.revoked),
		kgo.OnPartitionsLost(r.lost),
	)
	if r.set.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(r.set.InstanceID))
	}
	return opts
}
