package webhooksink

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Settings are what the process gives the sink.
type Settings struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Destinations says which destinations have series of their own. Nil: as many as
	// telemetry.MaxDestinations.
	Destinations *telemetry.Destinations
	// Workspace is followed: a change takes effect with the next attempt of each
	// event, and a new destination's topic is consumed from then on.
	Workspace *workspace.Live
	// Trace follows events that are sampled. Nil: tracing is off.
	Trace *trace.Tracer
	// Kafka are the options that every client of the process shares.
	Kafka []kgo.Opt
	// Topics lists the destinations' topics and creates those that the sink
	// needs. It speaks through a client that outlives the sink.
	Topics *kafka.Topics
	// InstanceID makes the sink a static member of its consumer group: its place is
	// kept while it is gone, for its session's eight seconds, and if it is back
	// within them nobody else has to notice. It is one sink's alone among
	// all that run. Empty: an ordinary member.
	InstanceID string
	// Returns says that the sink comes back under its InstanceID after an orderly
	// stop too. False: it gives its partitions to the others when it stops, and its
	// place is kept for it only after a crash.
	Returns bool
	// Peers are single addresses that endpoints may live at beside
	// Config.AllowNetworks: that of a receiver which this process runs.
	Peers []netip.AddrPort
	// Dial connects to endpoints in place of the network, for tests; the guard of
	// addresses does not see what it does. Nil: the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Group is the sink's consumer group.
const Group = "anabranch-webhook-sink"

const (
	// A killed sink's partitions rest for sessionTimeout, unless it comes back
	// before as the same static member. rebalanceTimeout must outlast a
	// revocation, which waits for attempts in flight.
	sessionTimeout    = 8 * time.Second
	rebalanceTimeout  = 15 * time.Second
	heartbeatInterval = time.Second

	// fetchMaxWait bounds how long a resumed topic waits for the fetch that was
	// under way without it; at the library's 5 s one destination fell from 5,700
	// events a second to 964.
	fetchMaxWait = 250 * time.Millisecond

	// What a fetch returns counts compressed bytes, and all of it is in memory
	// beside the copies that the queues hold: small portions.
	fetchMaxBytes          = 4 << 20
	fetchMaxPartitionBytes = 128 << 10

	// Events of a destination that is down fail together, and a produce request for
	// each would cost the sink and the brokers as much as a delivery: records wait
	// for company. What is written is a retry that is seconds away, or a dead letter.
	producerLinger = 5 * time.Millisecond
)

// options are those of the client that consumes.
func (s *session) options() []kgo.Opt {
	opts := append(slices.Clone(s.set.Kafka),
		kgo.ConsumerGroup(Group),
		// Cooperative-sticky and no other: range would give all topics of one
		// partition to one member, and a second protocol doubles the group's
		// metadata, which has to fit into one record of the broker.
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(sessionTimeout),
		kgo.RebalanceTimeout(rebalanceTimeout),
		kgo.HeartbeatInterval(heartbeatInterval),
		kgo.DisableAutoCommit(),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// The markers of the router's transactions come with the records: only so is it
		// known that nothing but a marker is left of a partition.
		kgo.KeepControlRecords(),
		// The library's reset goes back one minute; what lies before would be lost.
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(fetchMaxWait),
		kgo.FetchMaxBytes(fetchMaxBytes),
		kgo.FetchMaxPartitionBytes(fetchMaxPartitionBytes),
		kgo.OnPartitionsAssigned(s.assigned),
		kgo.OnPartitionsRevoked(s.revoked),
		kgo.OnPartitionsLost(s.lost),
		kgo.AdjustFetchOffsetsFn(s.begin),
	)
	if s.set.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(s.set.InstanceID))
	}
	return opts
}
