package webhooksink

import (
	"context"
	"log/slog"
	"net"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// Config is what an operator may set.
type Config = config.Config

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
	Topics *topics.Admin
	// InstanceID makes the sink a static member of its consumer group: its place is
	// kept while it is gone, for its session's eight seconds, and if it is back
	// within them nobody else has to notice. It is one sink's alone among
	// all that run. Empty: an ordinary member.
	InstanceID string
	// Returns says that the sink comes back under its InstanceID after an orderly
	// stop too. False: it gives its partitions to the others when it stops, and its
	// place is kept for it only after a crash.
	Returns bool
	// Journal says whether the journal is written.
	Journal bool
	// Peers are single addresses that endpoints may live at beside
	// Config.AllowNetworks: that of a receiver which this process runs.
	Peers []netip.AddrPort
	// Dial connects to endpoints in place of the network, for tests; the guard of
	// addresses does not see what it does. Nil: the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Group is the sink's consumer group.
const Group = schemas.SinkGroup

// ClosedNetworks returns the networks that are not public: those of IPv4, the one of
// IPv6 that all public addresses are in, and those in it that are not. A firewall on
// the way out of the sink closes the same.
func ClosedNetworks() (ipv4 []netip.Prefix, public6 netip.Prefix, ipv6 []netip.Prefix) {
	return guard.Closed()
}

// Finished returns which records of a partition are done with beyond the offset
// that the group committed for it, by what the commit says in its metadata: for
// those who look on, and would otherwise count what has overtaken an unfinished
// record. Metadata that is not the sink's says nothing.
func Finished(committed int64, metadata string) func(*kgo.Record) bool {
	done := offsets.Decode(committed, metadata)
	return func(r *kgo.Record) bool { return done.ContainsKey(r.Key, r.Offset, r.LeaderEpoch) }
}

// BusyKeys is how many keys of a partition are set aside, by the metadata of the
// group's commit: each has more events than its receiver accepts one at a time. events
// is about how many of them wait.
func BusyKeys(committed int64, metadata string) (keys int, events int64) {
	aside := offsets.Decode(committed, metadata).Aside()
	for _, k := range aside {
		events += k.Count
	}
	return len(aside), events
}
