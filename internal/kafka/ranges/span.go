package ranges

import (
	"context"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Span is a part of a partition that is to be read: offsets from Next up to End, End
// excluded. Reading moves Next, so whoever keeps a span can go on from there.
type Span struct {
	Topic     string
	Partition int32
	Next, End int64

	Records int   // that were handed out
	Deleted int64 // offsets that were gone before they were read, those of markers included
}

// Spans are the ranges of a topic to be read, by partition.
func Spans(topic string, all map[int32]Range) []*Span {
	spans := make([]*Span, 0, len(all))
	for _, num := range slices.Sorted(maps.Keys(all)) {
		spans = append(spans, &Span{Topic: topic, Partition: num, Next: all[num].Start, End: all[num].End})
	}
	return spans
}

// Done reports whether all of the span was read.
func (s *Span) Done() bool { return s.Next >= s.End }

// Left is how many offsets were not read.
func (s *Span) Left() int64 { return max(s.End-s.Next, 0) }

// Skip looks at the partition when nothing comes, and moves Next past what will never
// come: what retention has deleted, what compaction has taken from the end, and what was
// aborted there. A topic that the broker does not know is an error: it may be deleted, or
// the broker may have been started a moment ago.
func (s *Span) Skip(ctx context.Context, cl *kgo.Client) error {
	part, err := Fetch(ctx, cl, s.Topic, s.Partition, s.Next, partitionLeast)
	switch {
	case err != nil:
		return err
	case part.Deleted:
		s.delete(part.Next)
	case len(part.Records) > 0: // they are on their way
	case part.Next > s.Next:
		// Aborted, and the marker that would show it lies behind the end.
		s.Next = part.Next
	case part.Stable >= s.End:
		s.Next = s.End
	}
	return nil
}

func (s *Span) delete(to int64) {
	to = min(to, s.End)
	s.Deleted += max(to-s.Next, 0)
	s.Next = max(s.Next, to)
}

// take hands the records of the span to each, most of them all together.
func (s *Span) take(p *kgo.FetchPartition, most int, each func(*Span, *kgo.Record) error) error {
	if len(p.Records) == 0 {
		return nil
	}
	s.delete(min(p.LogStartOffset, p.Records[0].Offset))
	for _, r := range p.Records {
		if s.Done() || s.Records >= most {
			return nil
		}
		if r.Offset < s.Next {
			continue // another span of the partition begins earlier
		}
		if r.Offset < s.End && !r.Attrs.IsControl() {
			if err := each(s, r); err != nil {
				s.Next = max(s.Next, r.Offset)
				return err
			}
			s.Records++
		}
		s.Next = max(s.Next, r.Offset+1)
	}
	return nil
}
