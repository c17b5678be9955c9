package personas

import (
	"cmp"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/workspace"
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
		Help: "Runs personas: it reads raw-events, keeps who is in which audience and what the computed\n" +
			"traits of users are, and writes each change to raw-events as a call, exactly once. Processes\n" +
			"share the partitions; each keeps the state of its users in a directory of its own.",
		Topics: []pipeline.Topic{
			{Name: schemas.TopicRawEvents, Write: true, Why: "reads calls, and tells what changes", Consumed: pipeline.Verb{To: "fold into audiences", Done: "folded into audiences"}},
			{Name: schemas.TopicPersonasInternal, Write: true, Why: "keeps time, and hands users over", Consumed: pipeline.Verb{To: "follow", Done: "followed"}},
			{Name: schemas.TopicPersonasChangelog, Read: true, Write: true, Why: "keeps and restores the state of users"},
			{Name: schemas.TopicSeen, Read: true, Why: "knows calls that were seen before it came"},
			{Name: schemas.TopicWorkspace, Read: true, Why: "knows audiences and computed traits"},
			{Name: schemas.TopicRegulations, Read: true, Why: "knows suppressed users, of whom it tells nothing"},
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
			own := *cfg
			own.DataDir = cmp.Or(own.DataDir, p.Files)
			s, err := New(own, Settings{
				Logger: p.Logger, Registerer: p.Registerer, Definitions: definitionsOf(p.Workspace),
				Listened:   func(source string) bool { return len(p.Workspace.Load().Listeners(source)) > 0 },
				Suppressed: func(user string) bool { return p.Register.Suppressed.Has([]byte(user)) },
				AnonymousIDs: func() (int, time.Duration) {
					bound := p.Workspace.Load().AnonymousIDs()
					return bound.Max, time.Duration(bound.Per)
				},
				Uncompacted: p.Boot != "", Kafka: p.Kafka(name), Topics: p.Topics,
				TransactionalID: transactions + p.Instance, InstanceID: p.Member, Returns: p.Returns,
			})
			if err != nil {
				return nil, err
			}
			return &pipeline.Made{Stage: s}, nil
		},
	}
}

// definitionsOf returns a function that returns the definitions of the workspace in force:
// the same pointer as long as that is the same snapshot.
func definitionsOf(live *workspace.Live) func() *engine.Definitions {
	var (
		mu   sync.Mutex
		of   *workspace.Snapshot
		last *engine.Definitions
	)
	return func() *engine.Definitions {
		mu.Lock()
		defer mu.Unlock()
		if s := live.Load(); s != of {
			of, last = s, definitionsIn(s)
		}
		return last
	}
}

func definitionsIn(s *workspace.Snapshot) *engine.Definitions {
	d := new(engine.Definitions)
	for _, a := range s.Audiences() {
		d.Audiences = append(d.Audiences, engine.Audience{Audience: a.Audience, Version: a.Version})
	}
	for _, a := range s.Leaving() {
		d.Audiences = append(d.Audiences, engine.Audience{Audience: a.Audience, Version: a.Version, Deleted: true})
	}
	for _, t := range s.Traits() {
		d.Traits = append(d.Traits, engine.Trait{Trait: t.Trait, Version: t.Version})
	}
	return d
}
