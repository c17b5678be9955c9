package status

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Settings are what a report is made with.
type Settings struct {
	Kafka  []kgo.Opt // what every client of the process shares
	Topics *kafka.Topics
	// Brokers are the addresses as people know them.
	Brokers   []string
	Workspace *workspace.Snapshot
	// Router and Sink are the groups of the two stages that read from the brokers.
	Router, Sink string
	// Finished reads the metadata of the sink's commits: which records are done with
	// beyond a committed offset. Nil: none is known to be.
	Finished func(committed int64, metadata string) func(*kgo.Record) bool
	// Busy reads there, too, how many keys are set aside since each has more events than
	// its receiver takes one at a time, and about how many wait. Nil: none is known.
	Busy func(committed int64, metadata string) (keys int, events int64)
	// DeadSince is how far back dead letters are counted.
	DeadSince time.Duration
	// Window is how long an event is retried.
	Window time.Duration
}

// Gather makes a report. What can't be found out is an error; what is too much to
// read is not.
func Gather(ctx context.Context, set Settings) (*Report, error) {
	return gather(ctx, set, usualLimits())
}

func gather(ctx context.Context, set Settings, lim limits) (*Report, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	l := &look{Settings: set, now: now}
	if err := l.positions(ctx); err != nil {
		return nil, err
	}
	spans, err := l.spans(ctx)
	if err != nil {
		return nil, err
	}
	t := newTally(now, l.finished())
	if err := scan(ctx, set.Kafka, spans, lim, t.add); err != nil {
		return nil, err
	}
	return l.report(t, spans), nil
}

// look is what the brokers say without anything being read.
type look struct {
	Settings

	now    time.Time
	groups []kafka.Group // of router and sink
	router map[string]map[int32]kafka.Progress
	sink   map[string]map[int32]kafka.Progress
}

func (l *look) positions(ctx context.Context) (err error) {
	topics, err := l.Topics.List(ctx, "")
	if err != nil {
		return err
	}
	// First, since this waits for a cluster that has never had a group, and a look at
	// its members does not.
	if l.router, err = l.Topics.Progress(ctx, l.Router, schemas.TopicRawEvents); err != nil {
		return err
	}
	if l.groups, err = l.Topics.Groups(ctx, l.Router, l.Sink); err != nil {
		return err
	}
	topics = slices.DeleteFunc(topics, func(topic string) bool { return kind(topic) != deliverKind && kind(topic) != retryKind })
	l.sink, err = l.Topics.Progress(ctx, l.Sink, topics...)
	return err
}

// The kinds of topics that groups read, by which partitions are counted.
const (
	rawKind     = schemas.TopicRawEvents
	deliverKind = "deliver"
	retryKind   = "webhook-retry"
)

// kind is the topic's; empty for one that no group reads.
func kind(topic string) string {
	if topic == rawKind {
		return rawKind
	}
	if _, deliver := schemas.DestinationOf(topic); deliver {
		return deliverKind
	}
	if _, retry := schemas.RetryDelayOf(topic); retry {
		return retryKind
	}
	return ""
}

// spans returns what there is to be read: all that is not finished, and the dead
// letters of a while with the marks of those that were redriven since.
func (l *look) spans(ctx context.Context) ([]*span, error) {
	var all []*span
	for _, progress := range []map[string]map[int32]kafka.Progress{l.router, l.sink} {
		for topic, partitions := range progress {
			for partition, p := range partitions {
				all = append(all, &span{topic: topic, partition: partition, Range: kafka.Range{Start: p.Committed, End: p.End}})
			}
		}
	}
	for _, topic := range []string{schemas.TopicDeadLetters, schemas.TopicRedriven} {
		ranges, err := l.Topics.Ranges(ctx, topic, l.now.Add(-l.DeadSince))
		if err != nil {
			return nil, err
		}
		for partition, r := range ranges {
			all = append(all, &span{topic: topic, partition: partition, Range: r})
		}
	}
	// The order makes no difference to the result, and one that is always the same
	// makes two looks alike.
	slices.SortFunc(all, func(a, b *span) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
	return all, nil
}

// finished returns what the sink has done beyond its commits.
func (l *look) finished() func(*kgo.Record) bool {
	beyond := make(map[place]func(*kgo.Record) bool)
	for topic, partitions := range l.sink {
		for partition, p := range partitions {
			if l.Finished != nil && p.Metadata != "" {
				beyond[place{topic, partition}] = l.Finished(p.Committed, p.Metadata)
			}
		}
	}
	return func(r *kgo.Record) bool {
		contains := beyond[place{r.Topic, r.Partition}]
		return contains != nil && contains(r)
	}
}
