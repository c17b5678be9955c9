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
)

const (
	// patience is how long brokers may have nothing to say while a range is read.
	patience = 30 * time.Second
	// together is how many events' fingerprints are held in memory at a time, 16 bytes each,
	// unless one partition has more.
	together = 4 << 20
)

// survey is what the range of a run has to be read for once before anything of it is sent:
// it is the same whoever makes it, and whenever.
type survey struct {
	copies map[int32]*bits // offsets of calls that stand earlier in their partition's range
}

// seenAt is one call, by the first half of its fingerprint.
type seenAt struct {
	print  uint64
	offset int64
}

// surveyOf reads the spans, some partitions at a time, for calls that stand there twice:
// those with the same source, messageId and key. It hands each record out, and ends with
// the first error of that.
func surveyOf(ctx context.Context, opts []kgo.Opt, spans []*ranges.Span, prints *journal.Prints, each func(*kgo.Record) error) (*survey, error) {
	s := &survey{copies: make(map[int32]*bits)}
	for _, some := range portions(spans) {
		calls := make(map[int32][]seenAt)
		starts := make(map[int32]int64)
		for _, span := range some {
			starts[span.Partition] = span.Next
		}
		err := ranges.Read(ctx, opts, some, ranges.Limits{Patience: patience}, func(_ *ranges.Span, rec *kgo.Record) error {
			if err := each(rec); err != nil {
				return err
			}
			if h, err := kafka.HeadersOf(rec); err == nil && h.Source != "" && h.MessageID != "" {
				calls[rec.Partition] = append(calls[rec.Partition], seenAt{prints.Of(rec), rec.Offset})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for num, all := range calls {
			s.copies[num] = copiesAmong(all, starts[num])
		}
	}
	return s, nil
}

// copiesAmong are the offsets of all but the first of equal calls. It sorts them.
func copiesAmong(all []seenAt, start int64) *bits {
	slices.SortFunc(all, func(a, b seenAt) int {
		return cmp.Or(cmp.Compare(a.print, b.print), cmp.Compare(a.offset, b.offset))
	})
	copies := &bits{start: start}
	for i := 1; i < len(all); i++ {
		if all[i].print == all[i-1].print {
			copies.set(all[i].offset)
		}
	}
	return copies
}

// isCopy reports whether a call stands earlier in the range too.
func (s *survey) isCopy(rec *kgo.Record) bool { return s.copies[rec.Partition].has(rec.Offset) }

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

// bits are a set of offsets from start on, one bit each. Nil is the empty set.
type bits struct {
	start int64
	words []uint64
}

func (b *bits) set(offset int64) {
	n := offset - b.start
	if grow := int(n/64) + 1 - len(b.words); grow > 0 {
		b.words = append(b.words, make([]uint64, grow)...)
	}
	b.words[n/64] |= 1 << (n % 64)
}

func (b *bits) has(offset int64) bool {
	if b == nil || offset < b.start {
		return false
	}
	n := offset - b.start
	return n/64 < int64(len(b.words)) && b.words[n/64]&(1<<(n%64)) != 0
}
