package runs

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/ingest/imports"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/router/replay"
)

// Brokers are where runs tell how far they are.
type Brokers struct {
	Kafka  []kgo.Opt // what every client of the process shares
	Topics *topics.Admin
}

// Replays returns those that are not over, the first made first.
func (b Brokers) Replays(ctx context.Context) ([]status.Replay, error) {
	book, err := (&replay.Operator{Kafka: b.Kafka, Topics: b.Topics}).Load(ctx)
	if err != nil {
		return nil, err
	}
	var all []status.Replay
	for _, e := range book.All() {
		if e.Over() {
			continue
		}
		s := replay.StatusOf(e)
		all = append(all, status.Replay{
			ID: s.ID, State: s.State, Read: s.Read, Total: s.Total, Sent: s.Sent, Heard: e.Heard(), Remaining: s.RemainingSec, Trouble: s.Trouble,
		})
	}
	return all, nil
}

// Imports returns all of them, the first begun first.
func (b Brokers) Imports(ctx context.Context) ([]status.Import, error) {
	listed, err := imports.List(ctx, b.Topics.Client, b.Kafka)
	all := make([]status.Import, 0, len(listed))
	for i := range listed {
		e := &listed[i]
		all = append(all, status.Import{
			Files: e.File, Source: e.Source, Rows: e.Rows, Refused: e.Refused, Done: e.Done, Started: e.StartedAt, Heard: e.UpdatedAt,
		})
	}
	return all, err
}
