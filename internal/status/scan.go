package status

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/terminal"
)

// limits bound what is read for a report.
type limits struct {
	ranges.Limits

	time time.Duration
}

// usualLimits leave half of a command's ten seconds to the look-ups.
func usualLimits() limits {
	return limits{ranges.Limits{PerSpan: 5_000, Total: 200_000}, 5 * time.Second}
}

// span is a part of a partition that is to be read, since a stage has not; of dead
// letters there is no such stage.
type span struct {
	ranges.Span

	reader string
	done   func(*kgo.Record) bool // by the stage, although it is in the span
}

// toldEach is after how many records it is said how many were read.
const toldEach = 1_000

// counting says how much of what is to be read was handed to each.
func (set *Settings) counting(spans []*span, lim limits, each func(*span, *kgo.Record)) func(*span, *kgo.Record) {
	total, n := int64(0), int64(0)
	for _, s := range spans {
		total += min(s.Left(), int64(lim.PerSpan))
	}
	total = min(total, int64(lim.Total))
	return func(s *span, r *kgo.Record) {
		if n++; n%toldEach == 0 {
			set.say("read " + terminal.Count(n) + " of " + terminal.Count(total) + " events that wait or were given up")
		}
		each(s, r)
	}
}

// scan hands the committed records of spans to each, as far as the limits allow. That
// time ran out is no error: the spans say how far they were read.
func scan(ctx context.Context, opts []kgo.Opt, spans []*span, lim limits, each func(*span, *kgo.Record)) error {
	timed, cancel := context.WithTimeout(ctx, lim.time)
	defer cancel()
	parts, owners := make([]*ranges.Span, len(spans)), make(map[*ranges.Span]*span, len(spans))
	for i, s := range spans {
		parts[i], owners[&s.Span] = &s.Span, s
	}
	err := ranges.Read(timed, opts, parts, lim.Limits, func(part *ranges.Span, r *kgo.Record) error {
		each(owners[part], r)
		return nil
	})
	if errors.Is(err, context.DeadlineExceeded) && timed.Err() != nil {
		return ctx.Err()
	}
	return err
}
