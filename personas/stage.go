package personas

import (
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

// Stage declares the stage.
func Stage() *pipeline.Stage {
	const transactions = Group + "-"
	cfg := new(Config)
	return &pipeline.Stage{
		Name: name,
		Does: "keeps audiences and computed traits",
		Help: "Runs personas: it reads raw-events, keeps who is a member of which audience and what the\n" +
			"computed traits of a user are, and tells what changes, exactly once.",
		Topics: []pipeline.Topic{
			{Name: schemas.TopicRawEvents, Write: true, Why: "reads calls, and tells what changes", Consumed: pipeline.Verb{To: "fold", Done: "folded"}},
			{Name: schemas.TopicPersonasInternal, Write: true, Why: "keeps time, and hands users over", Consumed: pipeline.Verb{To: "follow", Done: "followed"}},
			{Name: schemas.TopicPersonasChangelog, Read: true, Write: true, Why: "keeps the state of users"},
			{Name: schemas.TopicWorkspace, Read: true, Why: "knows audiences and computed traits"},
		},
		Group: pipeline.Group{
			Name: Group,
			Copy: pipeline.Copy{
				Group:   Bookmark,
				Why:     "keeps a copy of its offsets that brokers don't forget",
				Without: "it works, and goes on by the state of its users if its offsets are lost",
			},
			Forgotten: "would go on by the state of its users",
		},
		Transactions: pipeline.Transactions{Prefix: transactions, Why: "folds and tells exactly once"},
		Users:        true,
		Config:       cfg,
		New: func(p *pipeline.Process) (*pipeline.Made, error) {
			none := new(engine.Definitions) // the workspace has no audiences or traits yet
			set := Settings{
				Logger: p.Logger, Registerer: p.Registerer, Definitions: func() *engine.Definitions { return none },
				Kafka: p.Kafka(name), Topics: p.Topics,
				TransactionalID: transactions + p.Instance, InstanceID: p.Member, Returns: p.Returns,
			}
			if p.Register != nil {
				set.Suppressed = func(userID string) bool { return p.Register.Suppressed.Has([]byte(userID)) }
			}
			stage, err := New(*cfg, set)
			if err != nil {
				return nil, err
			}
			return &pipeline.Made{Stage: stage}, nil
		},
	}
}
