package status

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/audit"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/kafka/txn/hanging"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Settings are what a report is made with.
type Settings struct {
	Kafka  []kgo.Opt // what every client of the process shares
	Topics *topics.Admin
	// Brokers are the addresses as people know them.
	Brokers   []string
	Workspace *workspace.Snapshot
	// Stages are all of them: those that read from the brokers are looked at.
	Stages pipeline.Stages
	// DeadSince is how far back dead letters are counted.
	DeadSince time.Duration
	// Replays returns those that are not over, and Imports all that are known. Nil: there
	// are none.
	Replays func(context.Context) ([]Replay, error)
	Imports func(context.Context) ([]Import, error)
	// Progress is told what is being done, now and then; nil: nobody wants to know.
	Progress func(string)
}

func (set *Settings) say(text string) {
	if set.Progress != nil {
		set.Progress(text)
	}
}

// window is how long an event is retried.
func (set *Settings) window() (window time.Duration) {
	for _, s := range set.Stages {
		window = max(window, s.Known().Window)
	}
	return window
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
	if err := l.lookAtExports(ctx); err != nil {
		return nil, err
	}
	spans, err := l.spans(ctx)
	if err != nil {
		return nil, err
	}
	t := newTally(now)
	if err = scan(ctx, set.Kafka, spans, lim, set.counting(spans, lim, t.add)); err != nil {
		return nil, err
	}
	l.say("looking for runs, and at the last hour")
	if err = l.stillPending(ctx); err != nil {
		return nil, err
	}
	if l.runs, err = orNone(ctx, l.Replays); err != nil {
		return nil, err
	}
	if l.imports, err = orNone(ctx, l.Imports); err != nil {
		return nil, err
	}
	r := l.report(t, spans)
	r.LastHour, err = l.lastHour(ctx, r)
	return r, err
}

const (
	// settled is how long ago what is journalled of a call is complete, unless it waits.
	settled = 10 * time.Second
	// glanceTime is how long the journal is read.
	glanceTime = 2 * time.Second
)

// orNone are the runs of a kind. That they can't be had, perhaps for want of a permission,
// must not keep anybody from the rest.
func orNone[T any](ctx context.Context, list func(context.Context) ([]T, error)) ([]T, error) {
	if list == nil {
		return []T{}, nil
	}
	all, err := list(ctx)
	if err != nil || all == nil {
		return []T{}, ctx.Err()
	}
	return all, nil
}

// lastHour is a glance at the journal, held against what waits. That it can't be had, perhaps
// for want of a permission, must not keep anybody from the rest.
func (l *look) lastHour(ctx context.Context, r *Report) (*audit.Glance, error) {
	g, err := audit.Look(ctx, l.Kafka, l.Topics, l.now.Add(-time.Hour), l.now.Add(-settled), glanceTime)
	if err != nil || g == nil || g.Accepted == 0 {
		return nil, ctx.Err()
	}
	waiting, exact := int64(0), g.Complete
	for i := range r.Destinations {
		d := &r.Destinations[i]
		waiting += d.Undelivered.Events + d.Retrying.Events
		exact = exact && d.Undelivered.Bound != AtLeast && d.Retrying.Bound != AtLeast
	}
	if exact {
		g.Missing = max(g.OnTheWay-waiting, 0)
	}
	return g, nil
}

// look is what the brokers say without anything being read.
type look struct {
	Settings

	now     time.Time
	readers []*reader
	exports map[string]*Export // by destination
	runs    []Replay
	imports []Import
}

// reader is a stage that reads from the brokers, and how far its group is.
type reader struct {
	*pipeline.Stage

	group    groups.Group
	progress map[string]map[int32]groups.Lag
	// pending are offsets, by topic, that an open transaction is about to change, with
	// what was committed before.
	pending map[string]map[int32]int64
}

func (l *look) positions(ctx context.Context) error {
	existing, err := l.Topics.List(ctx, "")
	if err != nil {
		return err
	}
	var names []string
	for _, s := range l.Stages.Grouped() {
		l.say("looking up how far " + s.Name + " is with " + terminal.Count(int64(len(existing))) + " topics")
		r := &reader{Stage: s, pending: make(map[string]map[int32]int64)}
		l.readers, names = append(l.readers, r), append(names, s.Group.Name)
		read := s.Consumed(existing)
		for _, topic := range s.Shared() {
			read = append(read, topic.Name) // there or not: somebody has to be asked
		}
		// Before the look at members, since this waits for a cluster that has never had a
		// group, and that one does not.
		if r.progress, err = groups.Lags(ctx, l.Topics.Client, s.Group.Name, read...); err != nil {
			return err
		}
		for _, topic := range s.Shared() {
			if r.pending[topic.Name], err = l.pending(ctx, s, topic.Name); err != nil {
				return err
			}
		}
	}
	described, err := groups.Describe(ctx, l.Topics.Client, names...)
	for i := range described {
		l.readers[i].group = described[i]
	}
	return err
}

// lookAtExports finds out what the topics hold that others read.
func (l *look) lookAtExports(ctx context.Context) error {
	l.exports = make(map[string]*Export)
	for _, d := range l.Workspace.DestinationsOf(workspace.TypeTopic) {
		e := &Export{Topic: d.Topic()}
		l.exports[d.ID] = e
		held, err := ranges.List(ctx, l.Topics.Client, e.Topic, time.Time{})
		if errors.Is(err, kerr.TopicAuthorizationFailed) {
			continue // one with a name of its own, perhaps
		} else if err != nil {
			return err
		}
		e.Partitions = len(held)
		for _, r := range held {
			e.Events += r.End - r.Start
		}
	}
	return nil
}

// pending looks for offsets in open transactions of a stage that commits there.
func (l *look) pending(ctx context.Context, s *pipeline.Stage, topic string) (map[int32]int64, error) {
	if !s.Transactional() {
		return nil, nil
	}
	return hanging.Pending(ctx, l.Topics.Client, s.Group.Name, topic)
}

// stillPending leaves of what was pending what still is: the offsets of a stage at
// work are pending one after the other.
func (l *look) stillPending(ctx context.Context) error {
	for _, r := range l.readers {
		for topic, was := range r.pending {
			if len(was) == 0 {
				continue
			}
			now, err := l.pending(ctx, r.Stage, topic)
			if err != nil {
				return err
			}
			maps.DeleteFunc(was, func(partition int32, before int64) bool {
				still, pending := now[partition]
				return !pending || still != before
			})
		}
	}
	return nil
}

// spans returns what there is to be read: all that is not finished, and the dead
// letters of a while with the marks of those that were redriven since.
func (l *look) spans(ctx context.Context) ([]*span, error) {
	var all []*span
	for _, r := range l.readers {
		for topic, partitions := range r.progress {
			if schemas.PrefixOf(topic) == schemas.ReplayPrefix {
				continue // a replay may be of millions, and is done when it is
			}
			for partition, p := range partitions {
				all = append(all, &span{
					Span:   ranges.Span{Topic: topic, Partition: partition, Next: p.Committed, End: p.End},
					reader: r.Name, done: r.finished(p),
				})
			}
		}
	}
	for _, topic := range []string{schemas.TopicDeadLetters, schemas.TopicRedriven} {
		found, err := ranges.List(ctx, l.Topics.Client, topic, l.now.Add(-l.DeadSince))
		if err != nil {
			return nil, err
		}
		for partition, r := range found {
			all = append(all, &span{Span: ranges.Span{Topic: topic, Partition: partition, Next: r.Start, End: r.End}})
		}
	}
	// The order makes no difference to the result, and one that is always the same
	// makes two looks alike.
	slices.SortFunc(all, func(a, b *span) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.reader, b.reader))
	})
	return all, nil
}

// finished returns what the stage has done of a partition beyond its commit.
func (r *reader) finished(p groups.Lag) func(*kgo.Record) bool {
	if r.Group.Finished == nil || p.Metadata == "" {
		return func(*kgo.Record) bool { return false }
	}
	return r.Group.Finished(p.Committed, p.Metadata)
}
