package replay

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
)

const (
	// patience is how long brokers may have nothing to say while a range is read.
	patience = 30 * time.Second
	// together is how many events' fingerprints are held in memory at a time, 24 bytes each,
	// unless one partition has more. The journal is read once for each such portion.
	together = 2 << 20
)

// survey is what the range of a run is read for as a whole before anything of it is sent:
// which calls stand there twice and, where that matters, what the journal says of them.
type survey struct {
	run     *Run
	source  source
	kafka   []kgo.Opt
	client  *kgo.Client
	journal bool
	// each is handed every record of the range, and portion the partitions of which all is
	// known then. An error of theirs ends the survey.
	each    func(*kgo.Record) error
	portion func(nums []int32)

	copies byPartition // calls that stand earlier in the range of their partition
	// Of the journal: the calls that it speaks of, and by destination those that had been
	// sent, or were still under way, or dead.
	known byPartition
	then  map[string]*history
}

// history is what the journal says of the events of one destination.
type history struct{ sent, delivered, dead byPartition }

// had are the events of a partition that the destination was sent: those that were
// delivered, and those of which no end is known.
func (h *history) had(num int32) *offsets {
	if h == nil {
		return nil
	}
	return h.sent[num].without(h.dead[num]).or(h.delivered[num])
}

// seenAt is one call, by the first half of its fingerprint.
type seenAt struct {
	print  uint64
	offset int64
	num    int32
}

// conduct reads the range, some partitions at a time.
func (s *survey) conduct(ctx context.Context) error {
	s.copies, s.known, s.then = make(byPartition), make(byPartition), make(map[string]*history)
	for _, some := range portions(s.run.spans()) {
		nums := make([]int32, 0, len(some))
		for _, span := range some {
			nums = append(nums, span.Partition)
		}
		calls, err := s.read(ctx, some)
		if err != nil {
			return err
		}
		s.findCopies(calls)
		if s.journal {
			if err := s.readJournal(ctx, nums, calls); err != nil {
				return err
			}
		}
		s.portion(nums)
	}
	return nil
}

// read reads some spans, and returns their calls by fingerprint and offset.
func (s *survey) read(ctx context.Context, spans []*ranges.Span) (calls []seenAt, err error) {
	prints := s.source.prints()
	err = s.source.each(ctx, spans, func(rec *kgo.Record) error {
		if h, broken := kafka.HeadersOf(rec); broken == nil && h.Source != "" && h.MessageID != "" {
			calls = append(calls, seenAt{prints.Of(rec), rec.Offset, rec.Partition})
		}
		return s.each(rec)
	})
	slices.SortFunc(calls, func(a, b seenAt) int {
		return cmp.Or(cmp.Compare(a.print, b.print), cmp.Compare(a.num, b.num), cmp.Compare(a.offset, b.offset))
	})
	return calls, err
}

// findCopies notes all but the first of equal calls.
func (s *survey) findCopies(calls []seenAt) {
	for i := 1; i < len(calls); i++ {
		if c := calls[i]; c.print == calls[i-1].print && c.num == calls[i-1].num {
			s.copies.of(c.num, s.run.Ranges[c.num].From).set(c.offset)
		}
	}
}

// readJournal takes in what became of some partitions' calls since they were received.
func (s *survey) readJournal(ctx context.Context, nums []int32, calls []seenAt) error {
	// Events of an embedded broker have the time of their writer, and those of a later
	// second may stand before.
	const slack = time.Minute
	var from time.Time
	if !s.run.From.IsZero() {
		from = s.run.From.Add(-slack)
	}
	spans, err := journal.Spans(ctx, s.client, from, time.Time{})
	if err != nil {
		return err
	}
	keyID := s.source.prints().KeyID()
	return journal.Read(ctx, s.kafka, spans, func(_ *kgo.Record, r *format.Record, broken error) error {
		// What can't be read is of a later release, and says nothing to this one.
		if broken == nil && r.KeyID == keyID {
			s.take(r, nums, calls)
		}
		return nil
	})
}

func (s *survey) take(r *format.Record, nums []int32, calls []seenAt) {
	switch {
	case !r.OfCalls():
		s.takeAttempts(r, calls)
	case r.Topic == schemas.TopicRawEvents && slices.Contains(nums, r.Partition):
		s.takeCalls(r)
	}
}

func (s *survey) takeCalls(r *format.Record) {
	at := s.run.Ranges[r.Partition]
	for c := range r.Calls() {
		if c.Offset < at.From || c.Offset >= at.To {
			continue
		}
		s.known.of(r.Partition, at.From).set(c.Offset)
		for _, d := range c.Decisions {
			switch h := s.history(d.Destination); d.Result {
			case format.Sent:
				h.sent.of(r.Partition, at.From).set(c.Offset)
			case format.DecisionDead:
				h.dead.of(r.Partition, at.From).set(c.Offset)
			case format.Filtered:
			}
		}
	}
}

func (s *survey) takeAttempts(r *format.Record, calls []seenAt) {
	for a := range r.Attempts() {
		i, found := slices.BinarySearchFunc(calls, a.Fingerprint, func(c seenAt, of uint64) int { return cmp.Compare(c.print, of) })
		if !found || a.Destination == "" {
			continue
		}
		c, h := calls[i], s.history(a.Destination)
		of := h.sent
		switch a.Outcome {
		case format.Delivered:
			of = h.delivered
		case format.Dead:
			of = h.dead
		case format.Retried, format.Withheld, format.Deferred: // under way
		}
		of.of(c.num, s.run.Ranges[c.num].From).set(c.offset)
	}
}

func (s *survey) history(destination string) *history {
	h := s.then[destination]
	if h == nil {
		h = &history{make(byPartition), make(byPartition), make(byPartition)}
		s.then[destination] = h
	}
	return h
}

// verdict says why an event is not sent that could be: it is a copy, or not missing.
func (s *survey) verdict(rec *kgo.Record, had byPartition) Reason {
	switch {
	case s.copies[rec.Partition].has(rec.Offset):
		return Copy
	case !s.run.Choice.Missing:
		return Sent
	case had[rec.Partition].has(rec.Offset):
		return Had
	case !s.known[rec.Partition].has(rec.Offset):
		return Unknown
	}
	return Sent
}

// had are the events that a destination was sent then.
func (s *survey) had(destination string) byPartition {
	all := make(byPartition, len(s.run.Ranges))
	for num := range s.run.Ranges {
		all[num] = s.then[destination].had(num)
	}
	return all
}

// portions are spans that are read together.
func portions(spans []*ranges.Span) (all [][]*ranges.Span) {
	room := int64(0)
	for _, s := range spans {
		if s.Done() {
			continue
		}
		if room -= s.Left(); len(all) == 0 || room < 0 {
			all, room = append(all, nil), together-s.Left()
		}
		all[len(all)-1] = append(all[len(all)-1], s)
	}
	return all
}
