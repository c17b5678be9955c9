package ask

import (
	"bytes"
	"context"
	"hash/maphash"

	"github.com/anabranch/anabranch/internal/spill"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/state"
)

// crowd is the users of one pile of a partition, who are in memory side by side.
type crowd struct {
	*part

	users map[string]*row
	seen  map[uint64]struct{} // calls that were folded: copies count once
}

// row is one of them.
type row struct {
	record  []byte
	profile *engine.Profile
	before  *engine.Profile
	called  bool
	told    map[string]Told
}

// evaluate looks at the users of the partition, a pile at a time.
func (p *part) evaluate(ctx context.Context) error {
	for num := range spill.Many {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := crowd{part: p, users: make(map[string]*row), seen: make(map[uint64]struct{})}
		if err := p.users.Each(num, c.take); err != nil {
			return err
		}
		for id, u := range c.users {
			if err := c.finish(id, u); err != nil {
				return err
			}
			delete(c.users, id)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asOf[p.num] = p.Extent
	return nil
}

// take takes in what was noted about a user. What the stage keeps of all comes first.
func (c *crowd) take(note []byte) error {
	r := state.Reader{Rest: note}
	kind, id := noteKind(r.Unsigned()), r.Bytes()
	if r.Failed {
		return errNote
	}
	u := c.users[string(id)]
	if u == nil {
		u = new(row)
		c.users[string(id)] = u
	}
	switch kind {
	case held:
		u.record = bytes.Clone(r.Rest)
		return nil
	case called:
		return c.fold(string(id), u, &r)
	case heard:
		t, err := readTold(&r)
		if u.told == nil {
			u.told = make(map[string]Told)
		}
		u.told[t.Key] = t
		return err
	}
	return errNote
}

// fold takes a call into those leaves of its user that lack it.
func (c *crowd) fold(id string, u *row, r *state.Reader) error {
	if err := readCall(r, &c.call); err != nil {
		return err
	}
	var name maphash.Hash
	name.SetSeed(c.seed)
	for _, text := range []string{id, c.call.Source, c.call.MessageID} {
		_, _ = name.WriteString(text) // it never fails
		_ = name.WriteByte(0)
	}
	sum := name.Sum64()
	if _, copied := c.seen[sum]; copied && c.call.MessageID != "" {
		return nil
	}
	c.seen[sum] = struct{}{}
	u.called = true
	if err := c.open(u); err != nil {
		return err
	}
	if d := u.before.Deletion; d.Request == "" || c.call.Offset >= d.Offset {
		c.c.Fold(u.profile, &c.call, c.only)
	}
	return nil
}

// open decodes a user, without the leaves that are folded.
func (c *crowd) open(u *row) (err error) {
	if u.profile != nil {
		return nil
	}
	u.before = c.c.NewProfile()
	if u.record != nil {
		if u.before, err = c.c.Decode(u.record); err != nil {
			return err
		}
	}
	u.profile = u.before.Restart(func(id engine.LeafID) bool { _, lacks := c.lacks[id]; return lacks || c.refold(&c.meta.Meta, id) })
	return nil
}

// finish looks at a user whose calls are all known, or puts one off.
func (c *crowd) finish(id string, u *row) error {
	if err := c.open(u); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case u.before.Redirect != "":
		return c.later.redirect(c.replay, id, u)
	case len(u.before.Links) > 0:
		return c.later.keep(c.replay, id, u, c.Clock)
	}
	return c.judge(&computed{
		id: id, profile: u.profile, before: u.before, now: c.Clock, told: u.told, unknown: u.record == nil && !u.called,
	})
}
