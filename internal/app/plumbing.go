package app

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/broker"
	"github.com/anabranch/anabranch/internal/broker/datadir"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/testsend"
)

// plumbing is what the stages of one process share. It is built once and
// passed to each constructor; nothing of it is global.
type plumbing struct {
	cfg      settings.Config
	log      *slog.Logger
	registry *prometheus.Registry
	clients  *telemetry.Clients
	// destinations says which have series of their own.
	destinations *telemetry.Destinations

	broker   *broker.Broker // nil against real brokers
	brokers  kafka.Config   // where the broker is, embedded or not
	kafka    []kgo.Opt      // what every client shares
	admin    *kgo.Client
	topics   *topics.Admin
	live     *workspace.Live
	register *regulation.Register // of deletion requests and suppressed users
	instance instance
	// tokenFile is where the token of the admin address is, if it was not set.
	tokenFile string
	trace     *trace.Tracer    // nil: tracing is off
	sender    *testsend.Sender // of test deliveries; nil: none are made from this process

	running pipeline.Stages // of the target
	made    []*pipeline.Made

	// Where people and probes reach this process: bound before it starts, nil where
	// the target has no such thing.
	adminPort, receiverPort net.Listener
}

// instance tells this process from the others that run the same stage.
type instance struct {
	transactional string
	static        string
	returns       bool // under its static name after an orderly stop
}

// member is the static group member of one stage; empty for a dynamic one.
func (i instance) member(stage string) string {
	if i.static == "" {
		return ""
	}
	return stage + "-" + i.static
}

// newPlumbing opens the embedded broker, if it is this process that runs it,
// and what is needed to speak to a broker. Nothing is sent yet.
func newPlumbing(cfg settings.Config, target string, log *slog.Logger) (*plumbing, error) {
	log = slog.New(kafka.Advising(log.Handler()))
	stages, err := stagesOf(cfg.Stages, target)
	if err != nil {
		return nil, err
	}
	p := &plumbing{
		cfg: cfg, log: log, registry: telemetry.NewRegistry(), running: stages,
		live: workspace.NewLive(workspace.NewSnapshot(nil, nil)), register: newRegister(cfg, log),
	}
	p.clients = telemetry.NewClients(p.registry)
	p.destinations = telemetry.NewDestinations(cfg.MetricsDestinations, p.registry, log)
	p.instance = instance{transactional: cfg.InstanceID, static: cfg.InstanceID, returns: cfg.Returns == "true"}
	p.brokers = cfg.Kafka
	if cfg.Embedded() {
		if target != TargetRun {
			return nil, fmt.Errorf("KAFKA_BROKERS is empty: expected the brokers that %q should use; only `anabranch run` has a broker of its own", target)
		}
		if err = p.openBroker(); err != nil {
			return nil, err
		}
	}
	if p.kafka, err = p.brokers.Options(log); err != nil {
		return nil, p.fail(err)
	}
	if p.admin, err = kgo.NewClient(p.options("admin")...); err != nil {
		return nil, p.fail(fmt.Errorf("create the client for topics: %w", err))
	}
	p.topics = topics.New(p.admin, cfg.Topics)
	if err = p.openTrace(target); err != nil {
		return nil, p.fail(err)
	}
	return p, nil
}

func newRegister(cfg settings.Config, log *slog.Logger) *regulation.Register {
	keys := cfg.SuppressionKeys()
	return regulation.NewRegister(keys, func(key string) {
		log.Error("users are suppressed under a key that SUPPRESSION_KEY of this process lacks, so their calls are not recognised, and neither dropped nor left out of what is sent again: set it to a list that has this key too",
			"key", key, "keys", keys.IDs())
	})
}

// options are those of a Kafka client, which is measured as one of a role.
func (p *plumbing) options(role string) []kgo.Opt {
	return append(slices.Clone(p.kafka), p.clients.Hook(role))
}

// openTrace makes the tracer, if tracing is on.
func (p *plumbing) openTrace(target string) (err error) {
	name := "anabranch"
	if target != TargetRun {
		name += "-" + target
	}
	p.trace, err = trace.New(p.cfg.Trace, trace.Settings{
		Logger: p.log, Registerer: p.registry, Service: name, Version: version(), Instance: p.cfg.InstanceID,
	})
	p.log = p.trace.Logger(p.log)
	return err
}

// openBroker starts the embedded broker. It forgets who was in a group and in a
// transaction when it dies, and it dies together with the stages: they are new
// members under new ids at each start, since an id from before would have to
// wait for the end of a session that nobody holds any more.
func (p *plumbing) openBroker() error {
	b, err := broker.Open(broker.Config{
		DataDir: p.cfg.DataDir, Addr: p.cfg.BrokerAddr,
		Readers: p.cfg.Stages.Readers, Intake: schemas.TopicRawEvents, MaxUnread: int64(p.cfg.MaxUnrouted),
		Registerer: p.registry,
	}, p.log.With("stage", "broker"))
	if err != nil {
		return err
	}
	p.broker = b
	if cfg := &p.cfg; cfg.AdminToken == "" {
		p.tokenFile = filepath.Join(cfg.DataDir, datadir.AdminToken)
		if cfg.AdminToken, err = b.AdminToken(); err != nil {
			return p.fail(err)
		}
	}
	p.brokers = settings.EmbeddedBroker(b)
	p.instance = instance{transactional: b.BootID()}
	return nil
}

// followers keep the workspace in force, and for stages that ask for it what is known of
// single users: from a topic of its own, and from that of the workspace, where earlier
// releases wrote it.
func (p *plumbing) followers() []service.Service {
	set := wstopic.FollowerSettings{Logger: p.log, Registerer: p.registry, Kafka: p.options("workspace"), Live: p.live}
	users := slices.ContainsFunc(p.running, func(s *pipeline.Stage) bool { return s.Users })
	if users {
		set.Regulations = p.register.Former()
	}
	set.Secrets = slices.ContainsFunc(p.running, func(s *pipeline.Stage) bool { return s.Secrets })
	set.Keys = p.cfg.Keys()
	follower := wstopic.NewFollower(set)
	if !users {
		return []service.Service{follower}
	}
	set.Regulations = p.register
	return []service.Service{follower, wstopic.NewRegulationsFollower(set, follower)}
}

// services are all that runs of the stages.
func (p *plumbing) services() (all []service.Service) {
	for _, m := range p.made {
		all = append(all, m.Services()...)
	}
	return all
}

// routes are the admin pages that only some processes have.
func (p *plumbing) routes() (all []telemetry.Route) {
	for _, m := range p.made {
		for _, r := range m.Routes {
			all = append(all, telemetry.Route{Page: r.Page, Handler: telemetry.RequireToken(p.cfg.AdminToken, r.Handler)})
		}
	}
	return all
}

// collect is the address of the stage that clients reach; empty where none runs.
func (p *plumbing) collect() (addr string) {
	for _, m := range p.made {
		addr = cmp.Or(addr, m.Addr)
	}
	return addr
}

// close releases what no service of the process owns.
func (p *plumbing) close() {
	if p.admin != nil {
		p.admin.Close()
	}
	if p.sender != nil {
		p.sender.Close()
	}
}

// fail closes what was opened before err, none of which is running yet, and
// returns it.
func (p *plumbing) fail(err error) error {
	for _, l := range []net.Listener{p.adminPort, p.receiverPort} {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	if p.broker != nil {
		err = errors.Join(err, p.broker.Close())
	}
	return err
}

// receiverPeer is the one address that the guard of the sink opens for the
// built-in receiver.
func (p *plumbing) receiverPeer() []netip.AddrPort {
	if p.receiverPort == nil {
		return nil
	}
	addr, err := netip.ParseAddrPort(p.receiverPort.Addr().String())
	if err != nil {
		return nil
	}
	return []netip.AddrPort{addr}
}
