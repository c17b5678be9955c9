package router

import (
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/router/replay"
	"github.com/anabranch/anabranch/schemas"
)

// Stage declares the stage.
func Stage() *pipeline.Stage {
	const transactions = Group + "-"
	cfg := new(Config)
	return &pipeline.Stage{
		Name: "router",
		Does: "routes calls to destinations",
		Help: "Runs the router: it reads raw-events and writes each call to the topics of its destinations,\n" +
			"exactly once. Routers share the partitions of raw-events.",
		Topics: []pipeline.Topic{
			{Name: schemas.TopicRawEvents, Why: "reads calls", Consumed: pipeline.Verb{To: "route", Done: "routed"}},
			{Name: schemas.TopicWorkspace, Read: true, Why: "knows destinations"},
			{Name: schemas.TopicSeen, Read: true, Write: true, Why: "keeps digests of the calls that it has seen"},
			{Name: schemas.DeliverPrefix, Write: true, Why: "writes events for destinations"},
			{Name: schemas.TopicDeadLetters, Write: true, Why: "stores what it can't route"},
			{Name: schemas.TopicReplays, Read: true, Write: true, Why: "knows replays, and how far they are"},
			{Name: schemas.ReplayPrefix, Write: true, Why: "sends past events once more"},
			{Name: schemas.TopicRegulations, Read: true, Why: "leaves suppressed users out of replays"},
			{Name: schemas.TopicJournal, Read: true, Write: true, Journal: true, Why: "writes down what became of each call, and reads what was sent before a replay"},
		},
		Group: pipeline.Group{
			Name: Group,
			Copy: pipeline.Copy{
				Group:   Bookmark,
				Why:     "keeps a copy of its offsets that brokers don't forget",
				Without: "it works, but waits for `ROUTER_START` if its offsets are lost",
			},
			Forgotten: "would wait for ROUTER_START, since no copy of its offsets was found",
		},
		Watches:      pipeline.Watch{Group: schemas.SinkGroup, Why: "sees how much of what replays sent is not delivered"},
		Transactions: pipeline.Transactions{Prefix: transactions, Why: "routes exactly once"},
		Users:        true,
		Config:       cfg,
		Facts:        func() pipeline.Facts { return pipeline.Facts{Remembered: cfg.Dedup} },
		New: func(p *pipeline.Process) (*pipeline.Made, error) {
			r, err := New(*cfg, Settings{
				Logger: p.Logger, Registerer: p.Registerer, Destinations: p.Destinations, Workspace: p.Workspace, Trace: p.Trace,
				Kafka: p.Kafka("router"), Topics: p.Topics,
				TransactionalID: transactions + p.Instance, InstanceID: p.Member, Returns: p.Returns,
				DataDir: p.DataDir, Journal: p.Journal,
			})
			if err != nil {
				return nil, err
			}
			again := replay.New(replay.Settings{
				Logger: p.Logger, Registerer: p.Registerer, Destinations: p.Destinations, Workspace: p.Workspace, Unseal: p.Unseal, Register: p.Register,
				Kafka: p.Kafka("replay"), Topics: p.Topics, Judge: func() replay.Judge { return new(Judge) }, Readers: p.Readers, Alone: p.Boot != "",
			})
			return &pipeline.Made{Stage: r, Beside: []service.Service{again}}, nil
		},
	}
}
