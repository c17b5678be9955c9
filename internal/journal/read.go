package journal

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// Spans are what was written to the journal from one time to another one, by the clock of
// its brokers (on the embedded broker: of its writers); zero times: from its first record,
// up to its last. There are none where there is no journal.
func Spans(ctx context.Context, cl *kgo.Client, from, to time.Time) ([]*ranges.Span, error) {
	all, err := ranges.List(ctx, cl, schemas.TopicJournal, from)
	if err != nil || to.IsZero() {
		return ranges.Spans(schemas.TopicJournal, all), err
	}
	behind, err := ranges.List(ctx, cl, schemas.TopicJournal, to)
	if err != nil {
		return nil, err
	}
	for num, r := range all {
		all[num] = ranges.Range{Start: r.Start, End: max(r.Start, behind[num].Start)}
	}
	return ranges.Spans(schemas.TopicJournal, all), nil
}

// patience is how long brokers may have nothing to say.
const patience = 30 * time.Second

// Read reads spans of the journal side by side, each in its order, and hands each record
// over with what it says, or with the reason why that can't be read. What is decoded may
// be kept. An error of each ends it. Spans tell how far they were read, and what
// retention took meanwhile.
func Read(ctx context.Context, opts []kgo.Opt, spans []*ranges.Span, each func(*kgo.Record, *journal.Record, error) error) error {
	return ranges.Read(ctx, opts, spans, ranges.Limits{Patience: patience}, func(_ *ranges.Span, rec *kgo.Record) error {
		r, err := journal.Decode(rec.Key, rec.Value)
		return each(rec, r, err)
	})
}
