package messagetrace

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// bury looks up the dead letters of ends that the journal has told of.
func (c *chase) bury(ctx context.Context) error {
	share(c.calls, c.tries)
	var ends []time.Time
	for i := range c.tries {
		if c.tries[i].Outcome == journal.Dead {
			ends = append(ends, c.tries[i].At)
		}
	}
	for _, f := range c.calls {
		if f.routing != nil && f.dies() {
			ends = append(ends, f.routedAt)
		}
	}
	for _, at := range ends {
		if c.told[at] {
			continue
		}
		c.told[at] = true
		if err := c.lettersOf(ctx, window{at.Add(-around), at.Add(around)}); err != nil {
			return err
		}
	}
	return c.marks(ctx)
}

// dies reports whether the router gave something of the call up.
func (f *facts) dies() bool {
	return f.routing.Result == journal.CallDead ||
		slices.ContainsFunc(f.routing.Decisions, func(d journal.Decision) bool { return d.Result == journal.DecisionDead })
}

// lettersOf takes in the dead letters of the calls that were written in a time.
func (c *chase) lettersOf(ctx context.Context, w window) error {
	num, there, err := c.home(ctx, schemas.TopicDeadLetters, c.calls[0].key)
	if err != nil || !there {
		return err
	}
	spans, err := c.spans(ctx, schemas.TopicDeadLetters, []int32{num}, w)
	if err != nil {
		return err
	}
	err = c.scan(ctx, spans, func(r *kgo.Record) error {
		h, _ := kafka.HeadersOf(r) // what could be read of them
		l := buried(r, &h)
		known := slices.ContainsFunc(c.letters, func(o letter) bool { return o.ID == l.ID })
		if h.MessageID == c.q.MessageID && h.Reason != schemas.ReasonPlanViolation && string(r.Key) == c.calls[0].key && !known {
			c.letters = append(c.letters, l)
		}
		return nil
	}, []byte(c.q.MessageID))
	c.assign()
	return err
}

// assign gives dead letters to calls: those of raw-events by the place that they came
// from, others to the call that was there before.
func (c *chase) assign() {
	for _, f := range c.calls {
		if f.offset >= 0 {
			f.letters = nil
		}
	}
	for _, l := range c.letters {
		if l.Reason == schemas.ReasonPlanViolation || l.run != "" {
			continue
		}
		var of *facts
		for _, f := range c.calls {
			if f.offset < 0 {
				continue
			}
			if own := l.from.Topic == schemas.TopicRawEvents && l.from.Offset == f.offset; own || of == nil || l.from.Topic != schemas.TopicRawEvents && f.died(&l) {
				of = f
			}
		}
		if of != nil {
			of.letters = append(of.letters, l)
		}
	}
}

// died reports whether an attempt of the call ended in a dead letter.
func (f *facts) died(l *letter) bool {
	return slices.ContainsFunc(f.tries, func(t try) bool {
		return t.Outcome == journal.Dead && t.from == l.from.Topic && t.Offset == l.from.Offset
	})
}

// marks looks up which of the dead letters were sent again, and when.
func (c *chase) marks(ctx context.Context) error {
	if len(c.letters) == 0 {
		return nil
	}
	texts := make([][]byte, len(c.letters))
	from := time.Now()
	for i := range c.letters {
		texts[i] = []byte(c.letters[i].ID)
		from = earliest(from, c.letters[i].At)
	}
	spans, err := c.spans(ctx, schemas.TopicRedriven, nil, window{from.Add(-skew), time.Now().Add(skew)})
	if err != nil {
		return err
	}
	err = c.scan(ctx, spans, func(r *kgo.Record) error {
		id, at, arrived, wrong := deadletters.ReadMark(r) // or from somebody else's hand
		for i := range c.letters {
			if l := &c.letters[i]; wrong == nil && l.ID == id.String() && (l.RedrivenAt == nil || l.RedrivenAt.Before(at)) {
				l.RedrivenAt, l.Arrived = &at, arrived
			}
		}
		return nil
	}, texts...)
	for _, f := range c.calls {
		for i := range f.letters {
			for _, l := range c.letters {
				if l.ID == f.letters[i].ID {
					f.letters[i] = l
				}
			}
		}
	}
	return err
}
