package personas

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/identity"
	"github.com/anabranch/anabranch/schemas"
)

// What is done of a partition between the records of two transactions.
const (
	turnTimers = 256
	turnSwept  = 512
	// mostLag is how old the calls in hand may be for a backfill to go on beside them.
	mostLag = 2 * time.Second
	// turnSteps is how many calls of the past and users of a sweep a transaction takes that
	// has live calls, which wait for it; turnStepsOwn how many where the next of them would;
	// and turnStepsIdle how many where none have come for idleAfter. Some half a millisecond,
	// two, and fifty.
	turnSteps, turnStepsOwn, turnStepsIdle = 100, 300, 10_000
	idleAfter                              = time.Second
	// turnPause is how long what is left waits for a transaction of live calls, while they
	// come as often, before it has one of its own: that costs the brokers and the next calls
	// more than it gets done.
	turnPause = 20 * time.Millisecond
	// What is read of the past at a time, in bytes: to unpack a part takes a core for some
	// milliseconds.
	partBytes, partBytesIdle = 128 << 10, 512 << 10
)

// turn does what is done in small steps: who is due, what new definitions lack, and who is
// to be looked at since they changed. What is left is done in the next transaction, which
// does not wait for the next tick.
func (p *processor) turn(ctx context.Context, t *runner.Transaction, w *work) error {
	if w.meta.Time == 0 {
		return nil // what time it is nobody has said yet
	}
	// Who is overdue is told before anything new is ready: of what is new, the time before is
	// none of theirs.
	overdue, err := p.timers(ctx, t, w)
	if err != nil || overdue {
		w.left = w.left || overdue
		return err
	}
	// A sweep looks at users whom the store has, so it comes before what fills in others.
	for _, step := range []func(context.Context, *runner.Transaction, *work) (more bool, err error){p.sweep, p.fill, p.resync} {
		more, err := step(ctx, t, w)
		if err != nil {
			return err
		}
		w.left = w.left || more
	}
	w.after = p.pause(t.Begun())
	if w.c != p.c && w.meta.Time >= p.c.seen.UnixMilli() {
		w.left = true // nobody is overdue: what is held comes into force
	}
	return nil
}

// inTurn are the partitions of the transaction, each in turn the first: what is done in small
// steps is bounded for all together, and the first could take all of it for as long as it has any.
func (p *processor) inTurn() []int32 {
	nums := slices.Sorted(maps.Keys(p.open))
	next, _ := slices.BinarySearch(nums, p.first+1)
	nums = slices.Concat(nums[next:], nums[:next])
	if len(nums) > 0 {
		p.first = nums[0]
	}
	return nums
}

// timers looks at users who are due.
func (p *processor) timers(ctx context.Context, t *runner.Transaction, w *work) (more bool, err error) {
	now := w.meta.Clock()
	due, more, err := w.users.Due(now, turnTimers)
	if err != nil {
		return false, err
	}
	for _, user := range due {
		p.metrics.now.timers++
		if at := user.Profile.Due(); at.IsZero() || at.After(now) {
			continue
		}
		p.tell(ctx, t, w, user, w.c.Advance(user.Profile, now, w.meta.Ready, engine.CauseTimer))
	}
	return more, nil
}

// fill folds a part of what new definitions lack.
func (p *processor) fill(ctx context.Context, t *runner.Transaction, w *work) (more bool, err error) {
	next := slices.IndexFunc(w.meta.Fills, func(f changelog.Fill) bool { return !f.Read() })
	if next < 0 {
		return p.await(ctx, t, w), nil
	}
	if t.Begun().Sub(w.from.Timestamp) > mostLag && !w.from.Timestamp.IsZero() {
		return false, nil // the next tick tries again
	}
	w.meta.Fills = slices.Clone(w.meta.Fills)
	f := &w.meta.Fills[next]
	var since time.Time
	if f.Since > 0 {
		since = time.UnixMilli(f.Since)
	}
	bytes := partBytesIdle
	if p.quiet(t.Begun()) < idleAfter {
		bytes = partBytes
	}
	part := p.history.Part(w.num, f.Next, f.Cut, since, bytes)
	if part == nil {
		return false, nil // the clock ticks again when it is there
	}
	if f.From < 0 {
		f.From = part.Begin
	}
	n := min(len(part.Records), p.quota(t))
	p.metrics.now.filled += n
	for _, rec := range part.Records[:n] {
		if err := p.refold(ctx, t, w, f, rec); err != nil {
			return false, err
		}
	}
	if n < len(part.Records) {
		f.Next = part.Records[n].Offset
		return true, nil
	}
	if f.Next = part.Next; f.Read() {
		p.history.Forget(w.num)
	}
	return true, nil
}

// quiet is how long before a transaction the last one began that had live calls; 0: it has.
func (p *processor) quiet(begun time.Time) time.Duration {
	return begun.Sub(time.Unix(0, p.busy.Load()))
}

// pause is how long what is left waits for a transaction that comes anyway.
func (p *processor) pause(now time.Time) time.Duration {
	if p.quiet(now) < 2*turnPause {
		return turnPause
	}
	return 0
}

// quota is how many steps of fills and sweeps the transaction may still take.
func (p *processor) quota(t *runner.Transaction) int {
	most := turnStepsIdle
	switch quiet := p.quiet(t.Begun()); {
	case quiet <= 0:
		most = turnSteps
	case quiet < idleAfter:
		most = turnStepsOwn
	}
	return max(0, most-p.metrics.now.filled-p.metrics.now.swept)
}

// refold folds a call into the leaves that are being filled.
func (p *processor) refold(ctx context.Context, t *runner.Transaction, w *work, f *changelog.Fill, rec *kgo.Record) error {
	h, err := kafka.HeadersOf(rec)
	if err != nil || ours(&h) || h.Origin == schemas.OriginDeletion || h.Origin == schemas.OriginReplay {
		return nil //nolint:nilerr // as when it came first
	}
	p.call.Offset = rec.Offset
	if err = engine.ParseCall(&p.call, rec.Value, &h, receipt(rec, time.Now())); err != nil {
		return nil //nolint:nilerr // the same
	}
	only := func(id engine.LeafID) bool { return slices.Contains(f.Leaves, id) }
	id := ownerOf(&p.call)
	fills := w.c.Fills(&p.call, only)
	if id == "" || changelog.Reserved(id) || !fills && len(identity.Claims(&p.call)) == 0 {
		return nil
	}
	user, err := w.users.Get(string([]byte(id)))
	if err != nil {
		return err
	}
	if d := user.Profile.Deletion; d.Request != "" && rec.Offset < d.Offset {
		return nil
	}
	if to := user.Profile.Redirect; to != "" {
		m := w.live(rec)
		m.Leaves, m.Fresh, m.Live = f.Leaves, f.Leaves, false
		p.forward(ctx, t, w, to, m)
		return nil
	}
	if fills {
		w.c.Fold(user.Profile, &p.call, only)
	}
	p.claim(ctx, t, w, user)
	return nil
}

// sweep looks at the next users since definitions have changed.
func (p *processor) sweep(ctx context.Context, t *runner.Transaction, w *work) (more bool, err error) {
	if w.meta.Sweep == nil {
		return false, nil
	}
	n := min(turnSwept, p.quota(t))
	if n == 0 {
		return true, nil
	}
	some, next, err := w.users.Look(w.meta.Sweep.From, n)
	if err != nil {
		return false, err
	}
	for _, user := range some {
		p.metrics.now.swept++
		p.tell(ctx, t, w, user, w.c.Advance(user.Profile, w.meta.Clock(), w.meta.Ready, engine.CauseEdit))
	}
	if next != nil {
		w.meta.Sweep = &changelog.Sweep{From: next}
		return true, nil
	}
	// Users whom this transaction is the first to see are looked at as their calls are taken.
	w.meta.Sweep, w.meta.Residue = nil, nil
	return w.c.of != p.c.of, nil
}
