package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/schemas"
)

// Operator asks for runs, and changes what is wanted of them.
type Operator struct {
	Kafka  []kgo.Opt // what every client of the process shares
	Topics *topics.Admin
}

// Resolve returns a run of what was received from one time to another, a zero time for the
// first and the last that there is. It has all but a choice, destinations and a rate.
func (o *Operator) Resolve(ctx context.Context, from, to, now time.Time) (*Run, error) {
	id, err := o.Topics.ID(ctx, schemas.TopicRawEvents)
	if err != nil {
		return nil, err
	}
	all, err := ranges.List(ctx, o.Topics.Client, schemas.TopicRawEvents, from)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("topic %s is not there: expected a pipeline that has run", schemas.TopicRawEvents)
	}
	ends := make(map[int32]int64, len(all))
	for num, r := range all {
		ends[num] = r.End
	}
	if !to.IsZero() && to.Before(now) {
		behind, err := ranges.List(ctx, o.Topics.Client, schemas.TopicRawEvents, to)
		if err != nil {
			return nil, err
		}
		for num, r := range behind {
			ends[num] = r.Start
		}
	} else {
		to = now
	}
	run := &Run{
		ID: NewID(now), Wish: Running, From: from.UTC(), To: to.UTC().Truncate(time.Millisecond), Ranges: make(map[int32]Offsets, len(all)),
		TopicID: id, CreatedAt: now.UTC().Truncate(time.Millisecond),
	}
	for num, r := range all {
		run.Ranges[num] = Offsets{From: r.Start, To: max(r.Start, ends[num])}
	}
	return run, nil
}

// Write stores what is wanted of a run.
func (o *Operator) Write(ctx context.Context, r *Run) error {
	if err := o.Topics.Ensure(ctx, schemas.TopicReplays); err != nil {
		return err
	}
	r.ChangedAt = time.Now().UTC().Truncate(time.Millisecond)
	rec, err := record(r, kindRun, r.ID)
	if err != nil {
		return err
	}
	cl, err := kgo.NewClient(append(o.Kafka[:len(o.Kafka):len(o.Kafka)], kgo.RecordPartitioner(partitioner{kgo.StickyKeyPartitioner(nil)}))...)
	if err != nil {
		return fmt.Errorf("open a writer of %s: %w", schemas.TopicReplays, err)
	}
	defer cl.Close()
	if err := cl.ProduceSync(ctx, rec).FirstErr(); err != nil {
		return fmt.Errorf("write to %s: %w", schemas.TopicReplays, err)
	}
	return nil
}

// Load reads what the topic says of all runs. What it can't read is an error: a part that
// is passed over would look as if nothing were sent.
func Load(ctx context.Context, opts []kgo.Opt, admin *topics.Admin) (*Book, error) {
	book := NewBook()
	all, err := ranges.List(ctx, admin.Client, schemas.TopicReplays, time.Time{})
	if err != nil {
		return nil, err
	}
	return book, ranges.Read(ctx, opts, ranges.Spans(schemas.TopicReplays, all), ranges.Limits{Patience: patience}, func(_ *ranges.Span, rec *kgo.Record) error {
		return book.Add(rec)
	})
}
