package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
)

// Settings are what is audited, and how.
type Settings struct {
	Kafka  []kgo.Opt // what every client of the process shares
	Topics *topics.Admin
	Stages pipeline.Stages
	// From and To are when the calls were accepted, To excluded.
	From, To time.Time
	// Settle is how long it takes until nothing changes any more of what was accepted.
	Settle time.Duration
	Selection
	// Retention is how long raw-events and the journal are kept at least; zero: nobody knows,
	// since they are bounded in bytes.
	Retention time.Duration
	// Progress is told, now and then, how many offsets of how many were read; nil: nobody
	// wants to know.
	Progress func(done, total int64)
}

const (
	// skew is how far clocks of brokers and processes may be apart.
	skew = time.Minute
	// hiddenFor is how long an open transaction is waited for.
	hiddenFor = 15 * time.Second
	// patience is how long brokers may have nothing to say.
	patience = 30 * time.Second
)

// Run audits a range. The error is about what kept it from that; what it found is in the
// report.
//
// The order of its looks is what makes it right while events go on moving. First it asks how
// far the groups are: each event is then behind what they have finished, and so in the
// journal, or waits. Only then does it fix the end of the journal, then that of dead letters,
// whose entries are in it, and last that of the topics on which events wait.
func Run(ctx context.Context, set Settings) (*Report, error) {
	a := &audit{Settings: set, now: time.Now().UTC().Truncate(time.Millisecond)}
	if err := a.look(ctx); err != nil {
		return nil, err
	}
	defer a.ledger.piles.Close()
	for _, read := range []func(context.Context) error{a.readJournal, a.readWaiting, a.readLetters, a.balance, a.readCalls} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	return a.report(), nil
}

// audit is one run.
type audit struct {
	Settings

	now    time.Time
	prints *journal.Prints
	ledger *ledger

	raw, journal, waits []*ranges.Span
	finished            map[*ranges.Span]func(*kgo.Record) bool
	letters             *deadletters.View

	done, total int64
}

// progress is how far groups are, by topic and partition.
type progress map[string]map[int32]groups.Lag

func (a *audit) look(ctx context.Context) (err error) {
	if a.prints, err = journal.FindPrints(ctx, a.Topics); err != nil {
		return err
	}
	a.ledger = newLedger(a.Selection, a.prints.KeyID(), make(map[int32]*calls))
	a.ledger.replays = within{a.From, a.To}
	routed, taken, err := a.positions(ctx)
	if err != nil {
		return err
	}
	if err = a.await(ctx, schemas.TopicRawEvents, schemas.TopicJournal); err != nil {
		return err
	}
	if err = a.lookAtCalls(ctx, routed); err != nil {
		return err
	}
	if a.journal, err = journal.Spans(ctx, a.Topics.Client, a.From.Add(-skew), time.Time{}); err != nil {
		return err
	}
	if err = a.await(ctx, schemas.TopicDeadLetters, schemas.TopicRedriven); err != nil {
		return err
	}
	if err = a.lookAtLetters(ctx); err != nil {
		return err
	}
	return a.lookAtWaiting(ctx, taken)
}

// positions are how far those are who route calls and who deliver them.
func (a *audit) positions(ctx context.Context) (routed, taken progress, err error) {
	existing, err := a.Topics.List(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	routed, taken = make(progress), make(progress)
	for _, s := range a.Stages.Grouped() {
		into := routed
		switch {
		case delivers(s):
			into = taken
		case !routes(s):
			continue
		}
		lags, err := groups.Lags(ctx, a.Topics.Client, s.Group.Name, live(s.Consumed(existing))...)
		if err != nil {
			return nil, nil, fmt.Errorf("look how far the %s is: %w", s.Name, err)
		}
		maps.Copy(into, lags)
	}
	return routed, taken, nil
}

// delivers reports whether it is this stage that takes on what is routed to destinations.
func delivers(s *pipeline.Stage) bool {
	return slices.ContainsFunc(s.Topics, func(t pipeline.Topic) bool {
		return (t.Name == schemas.DeliverPrefix || t.Name == schemas.ArchivePrefix) && t.Consumed != pipeline.Verb{}
	})
}

// routes reports whether it is this stage that calls go through on their way to
// destinations.
func routes(s *pipeline.Stage) bool {
	return slices.ContainsFunc(s.Topics, func(t pipeline.Topic) bool { return t.Name == schemas.DeliverPrefix && t.Write })
}

// live are the topics of live events alone: what a replay sends is no part of the equation.
func live(topics []string) []string {
	return slices.DeleteFunc(topics, func(topic string) bool { return schemas.PrefixOf(topic) == schemas.ReplayPrefix })
}

// await notes what an open transaction hides for too long.
func (a *audit) await(ctx context.Context, names ...string) error {
	hidden, err := ranges.Await(ctx, a.Topics.Client, hiddenFor, names...)
	for _, part := range hidden {
		a.ledger.doubt(Hidden, part, 0, time.Time{})
	}
	return err
}

// lookAtCalls finds the offsets of the range on raw-events.
func (a *audit) lookAtCalls(ctx context.Context, routed progress) error {
	held, first, err := a.since(ctx, schemas.TopicRawEvents, a.From)
	if err != nil {
		return err
	}
	behind, err := ranges.List(ctx, a.Topics.Client, schemas.TopicRawEvents, a.To)
	if err != nil {
		return err
	}
	for num, r := range first {
		c := newCalls(ranges.Range{Start: r.Start, End: max(behind[num].Start, r.Start)}, routed[schemas.TopicRawEvents][num].Committed)
		if c.cut = held[num].Start > 0 && held[num].Start == r.Start; c.cut && a.old() {
			a.ledger.doubt(Deleted, partOf(schemas.TopicRawEvents, num), 0, time.Time{})
		}
		a.ledger.raw[num] = c
		a.raw = append(a.raw, &ranges.Span{Topic: schemas.TopicRawEvents, Partition: num, Next: c.Start, End: c.End})
	}
	return nil
}

// since returns what a topic holds, and what of it was written at a time or later.
func (a *audit) since(ctx context.Context, topic string, from time.Time) (held, since map[int32]ranges.Range, err error) {
	if held, err = ranges.List(ctx, a.Topics.Client, topic, time.Time{}); err != nil {
		return nil, nil, err
	}
	since, err = ranges.List(ctx, a.Topics.Client, topic, from)
	return held, since, err
}

// old reports whether retention may have taken something of the range.
func (a *audit) old() bool { return a.now.Sub(a.From) > a.Retention*9/10 }

func (a *audit) lookAtLetters(ctx context.Context) (err error) {
	from := a.From.Add(-skew)
	held, since, err := a.since(ctx, schemas.TopicDeadLetters, from)
	if err != nil {
		return err
	}
	for num, r := range since {
		if held[num].Start > 0 && held[num].Start == r.Start {
			a.ledger.lettersCut = true
		}
	}
	log := &deadletters.Log{Kafka: a.Kafka, Topics: a.Topics}
	a.letters, err = deadletters.Open(ctx, log, deadletters.Selection{Since: from})
	return err
}

// lookAtWaiting finds what is not finished.
func (a *audit) lookAtWaiting(ctx context.Context, taken progress) error {
	existing, err := a.Topics.List(ctx, "")
	if err != nil {
		return err
	}
	a.finished = make(map[*ranges.Span]func(*kgo.Record) bool)
	for _, s := range a.Stages.Grouped() {
		if !delivers(s) {
			continue
		}
		names := live(s.Consumed(existing))
		if err := a.await(ctx, names...); err != nil {
			return err
		}
		now, err := groups.Lags(ctx, a.Topics.Client, s.Group.Name, names...)
		if err != nil {
			return fmt.Errorf("look how far the %s is: %w", s.Name, err)
		}
		for topic, partitions := range now {
			for num, lag := range partitions {
				before, known := taken[topic][num]
				if !known {
					before = groups.Lag{Committed: lag.Committed} // made a moment ago
				}
				span := &ranges.Span{Topic: topic, Partition: num, Next: before.Committed, End: lag.End}
				a.waits = append(a.waits, span)
				if s.Group.Finished != nil && before.Metadata != "" {
					a.finished[span] = s.Group.Finished(before.Committed, before.Metadata)
				}
			}
		}
	}
	return nil
}

func (a *audit) readJournal(ctx context.Context) error {
	for _, spans := range [][]*ranges.Span{a.raw, a.journal, a.waits} {
		for _, s := range spans {
			a.total += s.Left()
		}
	}
	held, err := ranges.List(ctx, a.Topics.Client, schemas.TopicJournal, time.Time{})
	if err != nil {
		return err
	}
	cut := make(map[int32]int64) // where partitions begin that retention may have cut
	for _, s := range a.journal {
		if s.Next > 0 && s.Next == held[s.Partition].Start && a.old() {
			cut[s.Partition] = s.Next
		}
	}
	return journal.Read(ctx, a.Kafka, a.journal, func(rec *kgo.Record, r *format.Record, err error) error {
		a.tick()
		if err != nil {
			return fmt.Errorf("%s: %w", partOf(rec.Topic, rec.Partition), err)
		}
		if first, is := cut[rec.Partition]; is && rec.Offset == first && rec.Timestamp.After(a.ledger.cutUntil) {
			a.ledger.cutUntil = rec.Timestamp
		}
		return a.ledger.record(r)
	})
}

// earlier is how much older a record that waits has to be than the range to be passed over.
const earlier = time.Hour

func (a *audit) readWaiting(ctx context.Context) error {
	return ranges.Read(ctx, a.Kafka, a.waits, ranges.Limits{Patience: patience}, func(s *ranges.Span, rec *kgo.Record) error {
		a.tick()
		if finished := a.finished[s]; finished != nil && finished(rec) {
			return nil
		}
		if rec.Timestamp.Before(a.From.Add(-earlier)) {
			return nil // of a call that came before
		}
		h, _ := kafka.HeadersOf(rec) // one that can't be read waits for its place in dead-letters
		if h.Run != "" {
			return nil // a replay's: no live event waits
		}
		destination, fresh := schemas.RoutedTo(rec.Topic)
		if !fresh {
			destination = h.Destination
		}
		return a.ledger.wait(rec.Topic, rec.Partition, rec.Offset, a.prints.Of(rec), destination)
	})
}

func (a *audit) readLetters(ctx context.Context) error {
	return a.letters.Each(ctx, func(l *deadletters.Letter) error {
		if l.Headers.Run != "" {
			return nil
		}
		at := place{a.ledger.names.of(schemas.TopicDeadLetters), uint16(l.ID.Partition), l.ID.Offset}
		return a.ledger.bury(at, l.Headers.From, a.prints.Of(l.Record), l.Headers.Destination, l.RedrivenAt, l.Arrived)
	})
}

func (a *audit) balance(context.Context) error { return a.ledger.balance() }

func (a *audit) readCalls(ctx context.Context) error {
	err := ranges.Read(ctx, a.Kafka, a.raw, ranges.Limits{Patience: patience}, func(_ *ranges.Span, rec *kgo.Record) error {
		a.tick()
		a.ledger.call(rec.Partition, rec.Offset, rec.Timestamp, func() (source, messageID string) {
			h, _ := kafka.HeadersOf(rec)
			return h.Source, h.MessageID
		})
		return nil
	})
	for _, s := range a.raw {
		if s.Deleted > 0 {
			a.ledger.doubt(Deleted, partOf(s.Topic, s.Partition), 0, time.Time{})
		}
	}
	return err
}

// tickEvery is how many records are read between two reports of progress.
const tickEvery = 1000

func (a *audit) tick() {
	if a.done++; a.Progress == nil || a.done%tickEvery != 0 {
		return
	}
	left := int64(0)
	for _, spans := range [][]*ranges.Span{a.raw, a.journal, a.waits} {
		for _, s := range spans {
			left += s.Left()
		}
	}
	a.Progress(a.total-left, a.total)
}

func (a *audit) report() *Report {
	if settled := a.now.Add(-a.Settle); a.To.After(settled) {
		a.ledger.doubt(Moving, schemas.TopicRawEvents, 0, settled)
		a.ledger.doubt(Moving, schemas.TopicRawEvents, 0, a.To)
	}
	r := &Report{From: a.From.UTC(), To: a.To.UTC(), AsOf: a.now}
	r.Rows, r.Missing, r.Unknown = a.ledger.result()
	return r
}
