package archive

import (
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Group is the stage's consumer group.
const Group = schemas.OwnPrefix + "archive"

// Stage declares the stage.
func Stage() *pipeline.Stage {
	cfg := new(Config)
	return &pipeline.Stage{
		Name: "archive",
		Does: "archives events",
		Help: "Runs the archive: it writes the events of destinations of the type archive to gzip NDJSON\n" +
			"in a directory or a bucket, each once. Processes share the partitions.",
		Topics: []pipeline.Topic{
			{Name: schemas.ArchivePrefix, Why: "reads events", Consumed: pipeline.Verb{To: "archive", Done: "archived"}},
			{Name: schemas.TopicWorkspace, Read: true, Why: "knows where archives are"},
			{Name: schemas.TopicJournal, Write: true, Journal: true, Why: "writes down what became of each event"},
			{Name: schemas.TopicRawEvents, Journal: true, Why: "knows by its id how calls are named in the journal"},
		},
		Group:   pipeline.Group{Name: Group, Forgotten: "would archive again what it had archived, under other names"},
		Serves:  workspace.TypeArchive,
		Secrets: true,
		Config:  cfg,
		New: func(p *pipeline.Process) (*pipeline.Made, error) {
			a, err := New(*cfg, Settings{
				Logger: p.Logger, Registerer: p.Registerer, Destinations: p.Destinations, Workspace: p.Workspace,
				Kafka: p.Kafka("archive"), Topics: p.Topics, Journal: p.Journal,
			})
			if err != nil {
				return nil, err
			}
			return &pipeline.Made{Stage: a}, nil
		},
	}
}
