package ingest

import (
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/schemas"
)

// regulations begins the transactional ids by which the ingest processes of a cluster
// keep one another from carrying out one regulation.
const regulations = schemas.OwnPrefix + "regulation"

// Stage declares the stage.
func Stage() *pipeline.Stage {
	cfg := new(Config)
	return &pipeline.Stage{
		Name: "ingest",
		Does: "takes calls in, and carries out deletion requests",
		Help: "Runs the collection API: it accepts calls over HTTP and answers 200 once the brokers have\n" +
			"them. Run as many as you like, behind one address.",
		Topics: []pipeline.Topic{
			{Name: schemas.TopicRawEvents, Write: true, Why: "stores calls"},
			{Name: schemas.TopicDeadLetters, Write: true, Why: "stores calls that a tracking plan blocks"},
			{Name: schemas.TopicWorkspace, Read: true, Why: "knows write keys"},
			{Name: schemas.TopicRegulations, Read: true, Write: true, Why: "stores deletion requests and suppressed users"},
		},
		Transactions: pipeline.Transactions{Prefix: regulations + "-", Why: "carries out a deletion request once"},
		Users:        true,
		Pages:        []telemetry.Page{regulationsPage()},
		Config:       cfg,
		Facts:        func() pipeline.Facts { return pipeline.Facts{Connections: cfg.MaxConnections} },
		New:          func(p *pipeline.Process) (*pipeline.Made, error) { return made(cfg, p) },
	}
}

func regulationsPage() telemetry.Page {
	return telemetry.Page{Path: "/regulations", About: "deletes and suppresses users; asks for ADMIN_TOKEN, or for the token in DATA_DIR/admin-token"}
}

func made(cfg *Config, p *pipeline.Process) (*pipeline.Made, error) {
	set := Settings{
		Logger: p.Logger, Registerer: p.Registerer, Workspace: p.Workspace, Trace: p.Trace,
		Kafka: p.Kafka("ingest"), Topics: p.Topics, Full: p.Full, Suppressed: p.Register.Suppressed.Has,
	}
	in, err := New(*cfg, set)
	if err != nil {
		return nil, err
	}
	id := regulations
	if p.Boot != "" {
		// The embedded broker has a single process, and bears no id that was there
		// before its start.
		id += "-" + p.Boot
	}
	beside := NewRegulations(in, set, RegulationSettings{
		Register: p.Register,
		Ledger:   &regulation.Ledger{Kafka: p.Kafka("regulations"), TransactionalID: id, Register: p.Register},
	})
	return &pipeline.Made{
		Stage: in, Addr: in.Addr(), Beside: []service.Service{beside},
		Routes: []telemetry.Route{{Page: regulationsPage(), Handler: beside.Handler()}},
	}, nil
}
