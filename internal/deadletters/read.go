package deadletters

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
)

// patience is how long a broker may take to say anything before a command gives up.
const patience = 10 * time.Second

func (l *Log) ranges(ctx context.Context, topic string, since time.Time) (map[int32]ranges.Range, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return ranges.List(ctx, l.Topics.Client, topic, since)
}

// read calls each with the committed records of a range, in their order. It ends
// with the first error of each.
func (l *Log) read(ctx context.Context, topic string, partition int32, r ranges.Range, each func(*kgo.Record) error) error {
	spans := ranges.Spans(topic, map[int32]ranges.Range{partition: r})
	return ranges.Read(ctx, l.Kafka, spans, ranges.Limits{Patience: patience}, func(_ *ranges.Span, r *kgo.Record) error { return each(r) })
}
