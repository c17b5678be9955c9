package pipeline

import (
	"log/slog"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Process is what a process gives to a stage that it runs. A stage takes of it what it
// needs.
type Process struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Destinations says which destinations have series of their own.
	Destinations *telemetry.Destinations
	Workspace    *workspace.Live
	// Unseal puts secrets in the clear that this process has the keys of, for a stage that has
	// to know some of them now and then; see [Stage.Secrets].
	Unseal func(*workspace.Snapshot) *workspace.Snapshot
	// Trace follows events that are sampled. Nil: tracing is off.
	Trace *trace.Tracer
	// Kafka returns the options of a client, which is measured as one of a role: the
	// stage's name, or that of a part of it with a client of its own.
	Kafka func(role string) []kgo.Opt
	// Topics creates topics that are missing, and looks at those there are.
	Topics *topics.Admin
	// Readers are the consumer groups of the stages that read a topic.
	Readers func(topic string) []string
	// Register has deletion requests and suppressed users, for stages with
	// [Stage.Users].
	Register *regulation.Register

	// DataDir is a directory where the stage may keep files that it can do without; empty:
	// there is none.
	DataDir string

	// Files is a directory for files of the stage that have to be somewhere, below
	// DATA_DIR. Nothing has made it yet.
	Files string

	// Instance tells this process from the others of the stage, and is the same again
	// when it comes back: for transactional ids. On a broker that dies together with
	// the process it is new at each start.
	Instance string
	// Boot is that new name where the broker is embedded, else empty: for what only one
	// process of a cluster may do.
	Boot string
	// Member is the stage's static member of its group; empty: an ordinary one. Returns
	// says that it comes back under it after an orderly stop too.
	Member  string
	Returns bool

	// Journal says whether the stage is to write down what became of each event.
	Journal bool

	// Full returns why nothing more may be put on raw-events for now, nil while it may.
	// Nil: there is always room.
	Full func() error
	// Peers are single addresses at which this process runs a receiver.
	Peers []netip.AddrPort
}

// Made is a stage that was made.
type Made struct {
	Stage Runner
	// Beside are services that run as long as the stage, and Routes the admin pages of
	// theirs, which ask for ADMIN_TOKEN.
	Beside []service.Service
	Routes []telemetry.Route
	// Addr is where clients reach it, host:port; empty: none do.
	Addr string
}

// Runner is a stage that can be run, and tells in /readyz whether it does its work.
type Runner interface {
	service.Service
	service.Ready
}

// Services are all that runs of it.
func (m *Made) Services() []service.Service {
	return append([]service.Service{m.Stage}, m.Beside...)
}
