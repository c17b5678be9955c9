package messagetrace

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// sending is what a replay sent of a call to one destination.
type sending struct {
	run, destination string
	at               time.Time
	topic            string
	passed           bool // the sink is past it, whatever the journal says
	tries            []try
	letters          []letter
}

// replays looks up what replays have sent of the calls, and what came of it. They may have
// done so long after anything else became of them, so the topics that they write to are
// asked first.
func (c *chase) replays(ctx context.Context) error {
	sent, err := c.sendings(ctx)
	if err != nil || len(sent) == 0 {
		return err
	}
	partitions, err := c.journals(ctx)
	if err != nil {
		return err
	}
	from := sent[0].at.Add(-skew)
	for length := pursueFirst; len(partitions) > 0; length *= 2 {
		next, more := expected(sent, from)
		if !more || next.After(time.Now()) {
			break
		}
		w := window{next, next.Add(length)}
		spans, err := c.spans(ctx, schemas.TopicJournal, partitions, w)
		if err != nil {
			return err
		}
		if err = c.scan(ctx, spans, c.take, c.print); err != nil {
			return err
		}
		if err = c.end(ctx, sent); err != nil {
			return err
		}
		from = w.To
	}
	c.origin().replays = sent
	return nil
}

// origin is the call that replays have sent: the first that went anywhere.
func (c *chase) origin() *facts {
	if i := slices.IndexFunc(c.calls, func(f *facts) bool { return !f.ends() }); i >= 0 {
		return c.calls[i]
	}
	return c.calls[0]
}

// sendings are what topics of replays hold of the calls, the earliest first.
func (c *chase) sendings(ctx context.Context) (all []*sending, err error) {
	since := window{c.calls[0].since.Add(-skew), time.Now().Add(skew)}
	for topic := range c.partitions {
		destination, replay := schemas.ReplayedTo(topic)
		if !replay {
			continue
		}
		num, there, err := c.home(ctx, topic, c.calls[0].key)
		if err != nil || !there {
			return nil, err
		}
		spans, err := c.spans(ctx, topic, []int32{num}, since)
		if err != nil {
			return nil, err
		}
		commit, err := c.commit(ctx, c.Sink, topic, num)
		if err != nil {
			return nil, err
		}
		err = c.scan(ctx, spans, func(r *kgo.Record) error {
			if h, _ := kafka.HeadersOf(r); h.MessageID == c.q.MessageID && string(r.Key) == c.calls[0].key {
				all = append(all, &sending{run: h.Run, destination: destination, at: r.Timestamp.UTC(), topic: topic, passed: r.Offset < commit})
			}
			return nil
		}, []byte(c.q.MessageID))
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b *sending) int { return a.at.Compare(b.at) })
	return all, nil
}

// expected is when the journal may say more of what was sent; false: all is said.
func expected(sent []*sending, from time.Time) (at time.Time, more bool) {
	for _, s := range sent {
		when := s.at.Add(-skew)
		if n := len(s.tries); n > 0 {
			if !s.tries[n-1].Outcome.Waits() {
				continue
			}
			when = s.tries[n-1].Until.Add(-skew)
		}
		if !more || when.Before(at) {
			at, more = when, true
		}
	}
	return latest(at, from), more
}

// end gives each attempt and each dead letter to what it is of.
func (c *chase) end(ctx context.Context, sent []*sending) error {
	slices.SortStableFunc(c.replayed, func(a, b try) int { return a.At.Compare(b.At) })
	for _, s := range sent {
		s.tries = slices.DeleteFunc(slices.Clone(c.replayed), func(t try) bool { return t.Run != s.run || t.Destination != s.destination })
		if n := len(s.tries); n == 0 || s.tries[n-1].Outcome != journal.Dead {
			continue
		}
		died := s.tries[len(s.tries)-1].At
		if err := c.lettersOf(ctx, window{died.Add(-around), died.Add(around)}); err != nil {
			return err
		}
		s.letters = slices.DeleteFunc(slices.Clone(c.letters), func(l letter) bool { return l.run != s.run || l.destination != s.destination })
	}
	return nil
}

// again is what became of what a replay sent.
func (s *sending) again(f *facts, of names) Replay {
	own := &facts{since: f.since, tries: s.tries, letters: s.letters, passed: map[string]bool{s.destination: s.passed}}
	r := Replay{Run: s.run, SentAt: s.at.Truncate(time.Millisecond), Destination: own.sent(s.destination, of)}
	if r.WaitingOn == schemas.DeliverTopic(s.destination) && r.redriven().IsZero() {
		r.WaitingOn = s.topic
	}
	return r
}
