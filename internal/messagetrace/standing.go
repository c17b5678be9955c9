package messagetrace

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// rest looks up what the journal does not tell.
func (c *chase) rest(ctx context.Context) error {
	share(c.calls, c.tries)
	for _, f := range c.calls {
		if f.routed && f.routing == nil && f.offset >= 0 {
			if err := c.lettersOf(ctx, window{f.since.Add(-skew), time.Now().Add(skew)}); err != nil {
				return err
			}
			if err := c.marks(ctx); err != nil {
				return err
			}
			continue
		}
		if f.routing == nil {
			continue
		}
		told := f.assemble(c.names)
		for i := range told.Destinations {
			if err := c.stands(ctx, f, &told.Destinations[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// stands looks up where the event is at a destination, as far as the journal leaves it open.
func (c *chase) stands(ctx context.Context, f *facts, d *Destination) error {
	switch {
	case d.WrittenTo != "":
		return c.arrived(ctx, f, d)
	case d.Outcome == Waiting && d.WaitingUntil == nil && d.ID != "" && d.redriven().IsZero():
		return c.reached(ctx, f, d.ID)
	}
	return nil
}

// arrived looks where the event stands on the topic that its destination reads. Whoever may
// not read that learns the name of the topic alone.
func (c *chase) arrived(ctx context.Context, f *facts, d *Destination) error {
	topic := d.WrittenTo
	num, there, err := c.home(ctx, topic, f.key)
	if err != nil || !there {
		return hiddenIsNone(err)
	}
	spans, err := c.spans(ctx, topic, []int32{num}, window{f.routedAt.Add(-skew), f.routedAt.Add(around)})
	if err != nil {
		return hiddenIsNone(err)
	}
	err = c.scan(ctx, spans, func(r *kgo.Record) error {
		if h, _ := kafka.HeadersOf(r); h.MessageID != c.q.MessageID || string(r.Key) != f.key {
			return nil
		}
		if f.written == nil {
			f.written = make(map[string]string)
		}
		f.written[d.ID] = schemas.Position{Topic: topic, Partition: num, Offset: r.Offset}.String()
		return nil
	}, []byte(c.q.MessageID))
	return hiddenIsNone(err)
}

func hiddenIsNone(err error) error {
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		return nil
	}
	return err
}

// reached looks whether the sink is past the event on a destination's topic.
func (c *chase) reached(ctx context.Context, f *facts, destination string) error {
	topic := c.names.topic(destination)
	num, there, err := c.home(ctx, topic, f.key)
	if err != nil || !there {
		return err
	}
	group := c.Sink
	archive := schemas.PrefixOf(topic) == schemas.ArchivePrefix
	if archive {
		group = c.Archive
	}
	commits, err := c.Topics.Commits(ctx, group, topic)
	if err != nil {
		return err
	}
	commit := commits[num]
	finished := func(r *kgo.Record) bool { return r.Offset < commit.Offset }
	if !archive && c.Finished != nil && commit.Metadata != "" {
		beyond := c.Finished(commit.Offset, commit.Metadata)
		finished = func(r *kgo.Record) bool { return r.Offset < commit.Offset || beyond(r) }
	}
	spans, err := c.spans(ctx, topic, []int32{num}, window{f.routedAt.Add(-skew), f.routedAt.Add(around)})
	if err != nil {
		return err
	}
	return c.scan(ctx, spans, func(r *kgo.Record) error {
		h, _ := kafka.HeadersOf(r)
		if h.MessageID == c.q.MessageID && finished(r) {
			if f.passed == nil {
				f.passed = make(map[string]bool)
			}
			f.passed[destination] = true
		}
		return nil
	}, []byte(c.q.MessageID))
}
