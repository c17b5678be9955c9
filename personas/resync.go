package personas

import (
	"context"
	"slices"

	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/emit"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/message"
	"github.com/anabranch/anabranch/personas/internal/users"
)

// mostResyncs is how many are kept of those that have ended.
const mostResyncs = 16

// inHand is the place of the resync that is done now; -1: none is.
func inHand(all []changelog.Resync) int {
	return slices.IndexFunc(all, func(r changelog.Resync) bool { return r.State == changelog.Resyncing })
}

// asked takes in what somebody asks for at a time. One that has ended is done again only
// under another id; one that was cancelled goes on where it was.
func asked(all []changelog.Resync, m *message.Resyncing, now int64) []changelog.Resync {
	all = slices.Clone(all)
	i := slices.IndexFunc(all, func(r changelog.Resync) bool { return r.ID == m.ID })
	switch {
	case i < 0 && m.Cancel:
		return all
	case i < 0:
		all = append(all, changelog.Resync{ID: m.ID, Key: m.Key, Destination: m.Destination, Began: now})
		i = len(all) - 1
	case all[i].State == changelog.Resynced:
		return all
	case m.Cancel:
		all[i].State = changelog.Cancelled
		return all
	}
	all[i].State, all[i].Rate, all[i].Paid = changelog.Resyncing, max(m.Rate, 1), now*1000
	for len(all) > mostResyncs {
		ended := slices.IndexFunc(all, func(r changelog.Resync) bool { return r.State != changelog.Resyncing })
		if ended < 0 {
			break
		}
		all = slices.Delete(all, ended, ended+1)
	}
	return all
}

// refill returns how many users may be told by a time, in Unix milliseconds. What was missed
// by more than a second is not made up for.
func refill(r *changelog.Resync, now int64) int64 {
	r.Paid = max(r.Paid, (now-1000)*1000)
	return max(0, (now*1000-r.Paid)*r.Rate/1_000_000)
}

// resync tells a destination of the next members. Each is told in the transaction that says
// so: nobody is told twice, and no later change before.
func (p *processor) resync(ctx context.Context, t *runner.Transaction, w *work) (more bool, err error) {
	i := inHand(w.meta.Resyncs)
	if i < 0 || t.Begun().Sub(w.from.Timestamp) > mostLag && !w.from.Timestamp.IsZero() {
		return false, nil // as a backfill, it rests while calls wait
	}
	w.meta.Resyncs = slices.Clone(w.meta.Resyncs)
	r := &w.meta.Resyncs[i]
	c, tells := w.c.again(r)
	if !tells {
		if _, later := p.c.again(r); !later {
			r.State = changelog.Resynced // it was deleted or disabled: nothing is told of it
		}
		return false, nil
	}
	room := refill(r, w.meta.Time)
	if room == 0 {
		return false, nil
	}
	some, next, err := w.users.Look(r.From, turnSwept)
	if err != nil {
		return false, err
	}
	for _, user := range some {
		if room == 0 {
			r.From = []byte(user.ID)
			return false, nil
		}
		told, err := p.tellAgain(ctx, t, w, user, r, c)
		if err != nil {
			return false, err
		}
		if told {
			room--
			r.Told++
			r.Paid += 1_000_000 / r.Rate
		}
	}
	r.From = next
	if next == nil {
		r.State = changelog.Resynced
	}
	return true, nil
}

// again is what a resync tells, but for its user; false: nothing is told of the definition.
func (c *catalogue) again(r *changelog.Resync) (engine.Change, bool) {
	change := engine.Change{Key: r.Key, ID: r.Key, Member: true, Cause: engine.CauseResync}
	for i := range c.of.Audiences {
		if a := &c.of.Audiences[i]; a.ID == r.Key && a.Enabled && !a.Deleted && !a.Held {
			change.Class, change.Version = engine.ClassAudience, a.Version
			return change, true
		}
	}
	for i := range c.of.Traits {
		if t := &c.of.Traits[i]; t.ID == r.Key && t.Enabled && !t.Held {
			change.Class, change.Version = engine.ClassComputedTrait, t.Version
			return change, true
		}
	}
	return change, false
}

// tellAgain tells a destination what a user was told before the resync began, if that is
// more than that they are no member.
func (p *processor) tellAgain(ctx context.Context, t *runner.Transaction, w *work, user *users.User, r *changelog.Resync, c engine.Change) (told bool, err error) {
	last, ever := user.Profile.Told(c.Class, c.Key)
	audience := c.Class == engine.ClassAudience
	if !ever || audience && !last.Member || last.At.UnixMilli() > r.Began || p.suppressed(user.ID) {
		return false, nil
	}
	if !audience {
		node, err := w.c.Explain(user.Profile, c.Key, w.meta.Clock())
		if err != nil || string(node.Value) == "null" {
			return false, err
		}
		c.Value = node.Value
	}
	c.At = last.At
	telling := w.c.tell[computation{c.Class, c.Key}]
	telling.Only, telling.Again = []string{r.Destination}, r.ID
	for _, rec := range emit.Records(emit.User{ID: user.ID, Anonymous: !user.Profile.Identified()}, &c, telling) {
		t.Write(ctx, w.from, rec)
	}
	p.metrics.tell(&c)
	return true, nil
}
