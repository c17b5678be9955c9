package personas

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/identity"
	"github.com/anabranch/anabranch/personas/internal/message"
	"github.com/anabranch/anabranch/personas/internal/users"
	"github.com/anabranch/anabranch/schemas"
)

// bound is how many anonymous ids a user may claim.
func (p *processor) bound() identity.Bound {
	if p.set.AnonymousIDs == nil {
		return identity.Bound{Max: 100, Per: 7 * 24 * time.Hour}
	}
	most, per := p.set.AnonymousIDs()
	return identity.Bound{Max: most, Per: per}
}

// decide has something be decided of who is who, and returns how many messages that took.
func (p *processor) decide(ctx context.Context, t *runner.Transaction, w *work, do func(*identity.Identity)) (sent int) {
	do(&identity.Identity{
		Catalogue: w.c.Catalogue, Bound: p.bound(),
		Send: func(to string, m *message.Message) {
			if m.Kind == message.Merge && m.Fresh == nil {
				m.Fresh = w.fresh()
			}
			if !changelog.Reserved(to) {
				t.Write(ctx, w.from, m.Record(homeOf(to, p.count), to))
				sent++
			}
		},
		Count: func(result string) { p.metrics.now.merges[result]++ },
	})
	return sent
}

// homeOf is which of so many partitions a user's is.
func homeOf(user string, partitions int) int32 {
	rec := &kgo.Record{Key: []byte(user)}
	return int32(kgo.StickyKeyPartitioner(nil).ForTopic(schemas.TopicRawEvents).Partition(rec, partitions))
}

// claim has a user claim the other ids of the call in hand. One who is suppressed gets none.
func (p *processor) claim(ctx context.Context, t *runner.Transaction, w *work, user *users.User) (sent int) {
	claims := identity.Claims(&p.call)
	if len(claims) == 0 || p.suppressed(user.ID) {
		return 0
	}
	return p.decide(ctx, t, w, func(i *identity.Identity) {
		for _, c := range claims {
			if !changelog.Reserved(c.ID) {
				i.Claim(user.ID, user.Profile, c, p.call.At)
			}
		}
	})
}

// live is the message by which a call is forwarded.
func (w *work) live(rec *kgo.Record) *message.Message {
	return &message.Message{
		Kind: message.Forward, Leaves: w.meta.Leaves, Fresh: w.fresh(), Live: true, Offset: rec.Offset, Received: rec.Timestamp.UnixMilli(),
		Value: rec.Value, Headers: rec.Headers,
	}
}

// forward passes a call on to the user whose it is by now.
func (p *processor) forward(ctx context.Context, t *runner.Transaction, w *work, to string, m *message.Message) (sent int) {
	p.metrics.now.events[forwarded]++
	if m.Hops++; m.Hops > message.MaxHops {
		p.metrics.now.merges[identity.GivenUp]++
		return 0
	}
	t.Write(ctx, w.from, m.Record(homeOf(to, p.count), to))
	return 1
}

// heed takes a message of the owner of another user, or of the user's own.
func (p *processor) heed(ctx context.Context, t *runner.Transaction, w *work, user *users.User, m *message.Message) (results int, err error) {
	switch m.Kind {
	case message.Link:
		return p.decide(ctx, t, w, func(i *identity.Identity) { i.Link(user.ID, user.Profile, m) }), nil
	case message.Refuse:
		return p.decide(ctx, t, w, func(i *identity.Identity) { i.Refuse(user.ID, user.Profile, m) }), nil
	case message.Raise:
		return p.decide(ctx, t, w, func(i *identity.Identity) { i.Raise(user.ID, user.Profile, m) }), nil
	case message.Forget:
		return p.decide(ctx, t, w, func(i *identity.Identity) { i.Forget(user.Profile, m, w.meta.Raw) }), nil
	case message.Merge:
		return p.merge(ctx, t, w, user, m)
	case message.Forward:
		return p.forwarded(ctx, t, w, user, m)
	default: // of a later release
		p.metrics.now.events[invalid]++
		return 0, nil
	}
}

// merge merges a state that was handed over. What was due before is told before.
func (p *processor) merge(ctx context.Context, t *runner.Transaction, w *work, user *users.User, m *message.Message) (results int, err error) {
	if len(w.lacks(m)) > 0 && p.keep(ctx, t, w, user, *m) {
		return 1, nil
	}
	results = p.decide(ctx, t, w, func(i *identity.Identity) {
		if !i.Merge(user.ID, user.Profile, m) {
			return
		}
		m.Value = slices.Clone(m.Value)
		changes := w.c.Advance(user.Profile, w.meta.Clock(), w.meta.Ready, engine.CauseTimer)
		if err = i.Join(user.ID, user.Profile, m); err != nil {
			return
		}
		changes = append(changes, w.c.Advance(user.Profile, w.meta.Clock(), w.meta.Ready, engine.CauseMerge)...)
		results += p.tell(ctx, t, w, user, changes)
	})
	return results, err
}

// forwarded takes a call of an id that was merged into a user.
func (p *processor) forwarded(ctx context.Context, t *runner.Transaction, w *work, user *users.User, m *message.Message) (results int, err error) {
	h, err := kafka.HeadersOf(&kgo.Record{Headers: m.Headers})
	if err != nil {
		p.metrics.now.events[invalid]++
		return 0, nil //nolint:nilerr // it was readable when it was forwarded
	}
	if h.Origin == schemas.OriginDeletion {
		return p.delete(ctx, t, w, user.ID, &h, m)
	}
	if to := user.Profile.Redirect; to != "" {
		return p.forward(ctx, t, w, to, m), nil
	}
	if lacks := w.lacks(m); len(lacks) > 0 {
		rest := *m
		rest.Leaves, rest.Fresh, rest.Live = lacks, lacks, false
		if p.keep(ctx, t, w, user, rest) {
			results++
		}
	}
	received := receipt(&kgo.Record{Timestamp: time.UnixMilli(m.Received)}, time.Now())
	if _, ok := p.parse(&h, &kgo.Record{Value: m.Value, Offset: m.Offset}, received); !ok {
		return results, nil
	}
	cause := engine.CauseEvent
	if m.Live {
		p.metrics.now.events[folded]++
	} else {
		cause = engine.CauseEdit
	}
	now := w.meta.Clock()
	changes := w.c.Advance(user.Profile, now, w.meta.Ready, engine.CauseTimer)
	w.c.Fold(user.Profile, &p.call, func(id engine.LeafID) bool { return slices.Contains(m.Leaves, id) })
	changes = append(changes, w.c.Advance(user.Profile, now, w.meta.Ready, cause)...)
	return results + p.tell(ctx, t, w, user, changes) + p.claim(ctx, t, w, user), nil
}
