package personas

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/emit"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/identity"
	"github.com/anabranch/anabranch/personas/internal/message"
	"github.com/anabranch/anabranch/personas/internal/users"
	"github.com/anabranch/anabranch/schemas"
)

// live takes a record of raw-events.
func (p *processor) live(ctx context.Context, t *runner.Transaction, w *work, rec *kgo.Record) (results int, err error) {
	received := receipt(rec, time.Now())
	w.advance(received.UnixMilli())
	w.meta.Raw = rec.Offset + 1
	h, err := kafka.HeadersOf(rec)
	if err != nil {
		p.metrics.now.events[invalid]++
		return 0, nil //nolint:nilerr // the router buries it
	}
	if ours(&h) {
		p.metrics.now.events[own]++
		return 0, nil
	}
	p.busy.Store(t.Begun().UnixNano())
	switch h.Origin {
	case schemas.OriginDeletion:
		p.metrics.now.events[deleted]++
		return p.delete(ctx, t, w, string(rec.Key), &h, w.live(rec))
	case schemas.OriginReplay: // it stands further up too, where it was taken from
		p.metrics.now.events[duplicate]++
		return 0, nil
	case schemas.OriginAPI, schemas.OriginPersonas:
	}
	if none(p.c.of) {
		p.metrics.now.events[ignored]++
		return 0, nil
	}
	if p.copies != nil && p.copies.Is(rec) {
		p.metrics.now.events[duplicate]++
		return 0, nil
	}
	user, ok := p.parse(&h, rec, received)
	if !ok {
		return 0, nil
	}
	return p.take(ctx, t, w, user, rec)
}

// tick takes a tick of a partition's clock. One whose process did not know the brokers' time
// only tells that: the next one is due at once.
func (p *processor) tick(t *runner.Transaction, w *work, m *message.Message, rec *kgo.Record) {
	p.metrics.now.ticks++
	written := rec.Timestamp.UnixMilli()
	p.ticked(w.num, written)
	if m.At == 0 {
		p.again(w.num, 0)
		return
	}
	w.ticks = append(slices.Clip(w.ticks), tick{m.End, timeOf(m, written, t.Begun())})
}

// timeOf is what time a tick says it was when somebody looked at the end of the log, in Unix
// milliseconds: not later than any of those who were there say.
func timeOf(tick *message.Message, written int64, read time.Time) int64 {
	return min(tick.At, written-tick.Late, read.UnixMilli())
}

// ahead is how far the clocks of brokers may be ahead of this process's.
const ahead = 10 * time.Second

// receipt is when a record was taken in. Brokers may take the time stamp that a client says:
// one of the future is not yet, and must not move the clock of a partition. Whatever may be
// the brokers' own stands, so that it is the same whoever reads it, and whenever.
func receipt(rec *kgo.Record, now time.Time) time.Time {
	if rec.Timestamp.After(now.Add(ahead)) {
		return now
	}
	return rec.Timestamp
}

// ours reports calls that tell a change, sent again or not.
func ours(h *schemas.Headers) bool {
	return h.Origin == schemas.OriginPersonas || h.Origin == schemas.OriginReplay && h.Source == emit.Source
}

// parse reads the call of a record, and returns whose it is.
func (p *processor) parse(h *schemas.Headers, rec *kgo.Record, received time.Time) (user string, ok bool) {
	p.call.Offset = rec.Offset
	if err := engine.ParseCall(&p.call, rec.Value, h, received); err != nil {
		p.metrics.now.events[invalid]++
		return "", false
	}
	if user = ownerOf(&p.call); user == "" || changelog.Reserved(user) {
		p.metrics.now.events[nobody]++
		return "", false
	}
	return strings.Clone(user), true
}

// ownerOf is whose a call is: what its record is keyed by.
func ownerOf(c *engine.Call) string {
	if c.UserID != "" {
		return c.UserID
	}
	return c.AnonymousID
}

// take folds the call in hand into the state of its user.
func (p *processor) take(ctx context.Context, t *runner.Transaction, w *work, id string, rec *kgo.Record) (results int, err error) {
	user, err := w.users.Get(id)
	if err != nil {
		return 0, err
	}
	if p.call.Offset < user.Profile.Deletion.Offset && user.Profile.Deletion.Request != "" {
		return 0, nil // from before
	}
	if to := user.Profile.Redirect; to != "" {
		return p.forward(ctx, t, w, to, w.live(rec)), nil
	}
	p.metrics.now.events[folded]++
	changes := w.c.Take(user.Profile, &p.call, w.meta.Clock(), w.meta.Ready)
	return p.tell(ctx, t, w, user, changes) + p.claim(ctx, t, w, user), nil
}

func (p *processor) suppressed(id string) bool {
	return p.set.Suppressed != nil && p.set.Suppressed(id)
}

// tell writes the calls of changes. Of a user who is suppressed nothing is told, and what
// changes meanwhile is not told later.
func (p *processor) tell(ctx context.Context, t *runner.Transaction, w *work, user *users.User, changes []engine.Change) (results int) {
	if len(changes) > 0 && p.suppressed(user.ID) {
		p.metrics.now.withheld += len(changes)
		return 0
	}
	for i := range changes {
		c := &changes[i]
		of := emit.User{ID: user.ID, Anonymous: !user.Profile.Identified()}
		for _, rec := range emit.Records(of, c, w.c.tell[computation{c.Class, c.Key}]) {
			t.Write(ctx, w.from, rec)
			results++
		}
		p.metrics.tell(c)
	}
	return results
}

// delete forgets a user. Of the events of one request the first does it; an order has the
// sources that have seen the user told. M is the event, to be passed on where the user is
// another one by now.
func (p *processor) delete(ctx context.Context, t *runner.Transaction, w *work, id string, h *schemas.Headers, m *message.Message) (results int, err error) {
	if changelog.Reserved(id) {
		return 0, nil
	}
	user, err := w.users.Get(id)
	if err != nil {
		return 0, err
	}
	if to := user.Profile.Redirect; to != "" {
		return p.forward(ctx, t, w, to, m), nil
	}
	d := engine.Deletion{Offset: w.meta.Raw - 1, Request: regulation.Request(h.MessageID)}
	if regulation.IsOrder(h) && user.Profile.Deletion.Request != d.Request {
		results = p.notify(ctx, t, w, user.Profile, m.Value)
	}
	return results + p.decide(ctx, t, w, func(i *identity.Identity) { i.Delete(id, user.Profile, d) }), nil
}

// notify has the destinations of each source told that has seen a user who is forgotten.
func (p *processor) notify(ctx context.Context, t *runner.Transaction, w *work, user *engine.Profile, order []byte) (results int) {
	sources := slices.Clone(user.Sources())
	if user.WasTold() {
		sources = append(sources, emit.Source)
	}
	for _, source := range sources {
		if p.set.Listened != nil && !p.set.Listened(source) {
			continue
		}
		rec, err := regulation.Notify(order, source)
		if err != nil {
			p.metrics.now.events[invalid]++
			p.set.Logger.Error("deletion request can't be read, no destination is told", "error", err)
			return results
		}
		t.Write(ctx, w.from, rec)
		results++
	}
	return results
}

// message takes a record of personas-internal.
func (p *processor) message(ctx context.Context, t *runner.Transaction, w *work, rec *kgo.Record) (results int, err error) {
	m, err := message.Read(rec)
	if err != nil {
		p.metrics.now.events[invalid]++
		p.set.Logger.Warn("record of personas-internal can't be read and is left out", "error", err)
		return 0, nil
	}
	switch {
	case m.Kind == message.Tick:
		p.tick(t, w, m, rec)
		return 0, nil
	case m.Kind == message.Resync && m.Resync != nil:
		w.meta.Resyncs = asked(w.meta.Resyncs, m.Resync, w.meta.Time)
		return 0, nil
	case m.Kind == message.Await:
		return p.awaited(ctx, t, w, m), nil
	case m.Kind == message.Filled:
		w.meta.Fills = filled(w.meta.Fills, m)
		return 0, nil
	}
	user, err := w.users.Get(string(rec.Key))
	if err != nil {
		return 0, err
	}
	return p.heed(ctx, t, w, user, m)
}
