package webhooksink

import (
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/answers"
)

// Stage declares the stage.
func Stage() *pipeline.Stage {
	cfg := new(Config)
	return &pipeline.Stage{
		Name: "webhook-sink",
		Does: "delivers events",
		Help: "Runs the webhook sink: it delivers events to the endpoints of destinations, retries for up to\n" +
			"four hours, and puts what can't be delivered into dead-letters. Sinks share the partitions.",
		Topics: []pipeline.Topic{
			{Name: schemas.DeliverPrefix, Why: "reads events", Consumed: pipeline.Verb{To: "deliver", Done: "delivered"}},
			{Name: schemas.RetryPrefix, Write: true, Why: "reads and writes retries", Consumed: pipeline.Verb{To: "retry", Done: "retried"}},
			{Name: schemas.ReplayPrefix, Found: true, Why: "reads what replays send, behind live events", Consumed: pipeline.Verb{To: "replay", Done: "delivered"}},
			{Name: schemas.TopicWorkspace, Read: true, Why: "knows endpoints"},
			{Name: schemas.TopicDeadLetters, Write: true, Why: "stores what it can't deliver"},
			{Name: schemas.TopicJournal, Write: true, Journal: true, Why: "writes down what became of each event"},
			{Name: schemas.TopicRawEvents, Journal: true, Why: "knows by its id how calls are named in the journal"},
		},
		Group:   pipeline.Group{Name: Group, Forgotten: "would deliver again what it had finished", Finished: Finished, Busy: BusyKeys},
		Secrets: true,
		Pages:   []telemetry.Page{answers.Page()},
		Config:  cfg,
		Facts: func() pipeline.Facts {
			return pipeline.Facts{Topics: retryTopics(cfg), Window: cfg.RetryWindow, Attempts: cfg.MaxInFlightTotal, Permit: cfg.Permit}
		},
		New: func(p *pipeline.Process) (*pipeline.Made, error) {
			s, err := New(*cfg, Settings{
				Logger: p.Logger, Registerer: p.Registerer, Destinations: p.Destinations, Workspace: p.Workspace, Trace: p.Trace,
				Kafka: p.Kafka("webhook-sink"), Topics: p.Topics, InstanceID: p.Member, Returns: p.Returns, Peers: p.Peers,
				Journal: p.Journal,
			})
			if err != nil {
				return nil, err
			}
			route := telemetry.Route{Page: answers.Page(), Handler: s.answers.Handler(p.Workspace)}
			return &pipeline.Made{Stage: s, Routes: []telemetry.Route{route}}, nil
		},
	}
}

func retryTopics(cfg *Config) []string {
	topics := make([]string, len(cfg.RetryDelays))
	for i, delay := range cfg.RetryDelays {
		topics[i] = schemas.RetryTopic(delay)
	}
	return topics
}
