package console

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Brokers are where answers are from.
type Brokers struct {
	Kafka     []kgo.Opt // what every client of the process shares
	Topics    *topics.Admin
	Addresses []string // as people know them
	Stages    pipeline.Stages
	Workspace *workspace.Live
}

// deadSince is how far back dead letters are counted.
const deadSince = 24 * time.Hour

// FromBrokers returns the questions that brokers answer.
func FromBrokers(b *Brokers) Questions {
	return Questions{Status: b.status}
}

func (b *Brokers) status(ctx context.Context) (*status.Report, error) {
	report, err := status.Gather(ctx, status.Settings{
		Kafka: b.Kafka, Topics: b.Topics, Brokers: b.Addresses, Workspace: b.Workspace.Load(), Stages: b.Stages, DeadSince: deadSince,
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, errors.New("brokers answer, but too slowly: `anabranch doctor` checks them one by one")
	}
	return report, err
}
