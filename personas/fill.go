package personas

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/identity"
	"github.com/anabranch/anabranch/personas/internal/message"
	"github.com/anabranch/anabranch/personas/internal/users"
)

const (
	// askEvery is how often partitions are asked, and mostAsked how many at once.
	askEvery  = time.Second
	mostAsked = 16
	// keepFor is how long a message is kept whose leaves its partition lacks, while nothing
	// shows that it is going to have them.
	keepFor = time.Minute
	// keepEvery is the least time between two transactions in which such messages come.
	keepEvery = 10 * time.Millisecond
)

// await ends fills of which all partitions have passed on what they had, and asks those that
// did not say so yet. It reports whether there is more to do at once.
func (p *processor) await(ctx context.Context, t *runner.Transaction, w *work) (more bool) {
	before := len(w.meta.Fills)
	w.meta.Fills = slices.DeleteFunc(slices.Clone(w.meta.Fills), func(f changelog.Fill) bool { return len(f.Heard) >= p.count-1 })
	if len(w.meta.Fills) < before {
		w.meta.Sweep = new(changelog.Sweep) // now they can be told
		return true
	}
	for i := range w.meta.Fills {
		f := &w.meta.Fills[i]
		if w.meta.Time < f.Asked+askEvery.Milliseconds() {
			continue
		}
		f.Asked = w.meta.Time
		m := &message.Message{Kind: message.Await, Num: w.num, Leaves: f.Leaves}
		for _, num := range unheard(f, w.num, p.count) {
			t.Write(ctx, w.from, m.Record(num, ""))
		}
	}
	return false
}

// unheard are the first of the partitions that a fill waits for.
func unheard(f *changelog.Fill, own int32, count int) (nums []int32) {
	for num := range int32(count) {
		if num != own && !slices.Contains(f.Heard, num) && len(nums) < mostAsked {
			nums = append(nums, num)
		}
	}
	return nums
}

// awaited answers a partition that waits, if this one has read all that it had for the
// leaves: what it has passed on stands before the answer. Who is not done is asked again.
func (p *processor) awaited(ctx context.Context, t *runner.Transaction, w *work, m *message.Message) (sent int) {
	unread := func(id engine.LeafID) bool {
		return !slices.Contains(w.meta.Leaves, id) || slices.ContainsFunc(w.meta.Fills, func(f changelog.Fill) bool {
			return !f.Read() && slices.Contains(f.Leaves, id)
		})
	}
	if slices.ContainsFunc(m.Leaves, unread) {
		return 0
	}
	answer := &message.Message{Kind: message.Filled, Num: w.num, Leaves: m.Leaves}
	t.Write(ctx, w.from, answer.Record(m.Num, ""))
	return 1
}

// filled notes that a partition has passed on all that it had for some leaves.
func filled(fills []changelog.Fill, m *message.Message) []changelog.Fill {
	fills = slices.Clone(fills)
	for i := range fills {
		f := &fills[i]
		lacks := func(id engine.LeafID) bool { return !slices.Contains(m.Leaves, id) }
		if !slices.ContainsFunc(f.Leaves, lacks) && !slices.Contains(f.Heard, m.Num) {
			f.Heard = append(slices.Clip(f.Heard), m.Num)
		}
	}
	return fills
}

// fresh are the leaves that a partition is filling. Others may not have taken them up yet;
// when it has filled them all have.
func (w *work) fresh() (leaves []engine.LeafID) {
	for i := range w.meta.Fills {
		leaves = append(leaves, w.meta.Fills[i].Leaves...)
	}
	return leaves
}

// lacks are the leaves of a message that a partition is going to have.
func (w *work) lacks(m *message.Message) (leaves []engine.LeafID) {
	for _, id := range m.Fresh {
		if !slices.Contains(w.meta.Leaves, id) {
			leaves = append(leaves, id)
		}
	}
	return leaves
}

// keep has a message come again, until its partition has the leaves that it is for. False: it
// has come for too long.
func (p *processor) keep(ctx context.Context, t *runner.Transaction, w *work, user *users.User, m message.Message) bool {
	now := t.Begun()
	m.Held = cmp.Or(m.Held, now.UnixMilli())
	if now.Sub(time.UnixMilli(m.Held)) > keepFor && w.meta.Sweep == nil {
		p.metrics.now.merges[identity.GivenUp]++
		return false
	}
	if !w.keeps {
		w.keeps = true
		waiting.Sleep(ctx, keepEvery)
	}
	t.Write(ctx, w.from, m.Record(w.num, user.ID))
	return true
}
