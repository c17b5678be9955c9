package ask

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/anabranch/anabranch/personas/internal/engine"
)

// Member is one of an audience.
type Member struct {
	UserID string    `json:"user_id"`
	Since  time.Time `json:"since"`
}

// Page says which members are wanted.
type Page struct {
	After string // those behind this user; empty: from the first one on
	Limit int    // so many at most; 0: all
}

// Members returns those of an audience, as they were told, in the order of their ids, and
// whether there are more behind the page. It reads all of the changelog, and needs memory for
// the page; without a Page.Limit, for all members.
func Members(ctx context.Context, log *Log, key string, page Page) (members []Member, more bool, err error) {
	d, err := log.Workspace.find(key)
	if err != nil {
		return nil, false, err
	}
	if d.Kind != engine.ClassAudience {
		return nil, false, fmt.Errorf("%s is a computed trait: only audiences have members", key)
	}
	c, err := engine.Compile(engine.Definitions{})
	if err != nil {
		return nil, false, err
	}
	for after := page.After; ; {
		f := newFirst(after, page.Limit)
		if err := log.members(ctx, c, engine.ToldIDOf(d.Kind, d.ID), f); err != nil {
			return nil, false, err
		}
		members = append(members, f.members()...)
		if page.Limit > 0 && len(members) > page.Limit {
			return members[:page.Limit], true, nil
		}
		if !f.cut {
			return members, false, nil
		}
		after = f.until // so many have left since that the page is not full
	}
}

// members tells f of each change of an audience's members that the changelog has.
func (l *Log) members(ctx context.Context, c *engine.Catalogue, audience engine.ToldID, f *first) error {
	_, err := l.state(ctx, nil, func(_ int32, user, record []byte) error {
		if f.outside(user) {
			return nil
		}
		p, broken := c.Decode(record)
		if broken != nil {
			return fmt.Errorf("user %q: %w", user, broken)
		}
		told, _ := p.ToldOf(audience)
		f.take(string(user), told.Member, told.At)
		return nil
	})
	return err
}

// spare is how many more members are kept than are wanted, since some leave later in the log.
const spare = 1000

// first keeps those members behind a user whose ids come first. What it has in the end are
// all that there are up to one of them: whoever was put aside once is behind all that are kept.
type first struct {
	after string
	most  int // that are kept, about; 0: all
	since map[string]time.Time
	cut   bool   // whether somebody was put aside
	until string // who is behind is; without cut, nobody
}

func newFirst(after string, limit int) *first {
	f := &first{after: after, since: make(map[string]time.Time)}
	if limit > 0 {
		f.most = limit + spare
	}
	return f
}

// outside reports whether a user is not among them, whatever is known of them.
func (f *first) outside(user []byte) bool {
	return string(user) <= f.after || f.cut && string(user) > f.until
}

// take notes what is known of a user from now on, who is not outside.
func (f *first) take(user string, member bool, since time.Time) {
	if !member {
		delete(f.since, user)
		return
	}
	f.since[user] = since
	if f.most == 0 || len(f.since) < 2*f.most {
		return
	}
	ids := slices.Sorted(maps.Keys(f.since))
	for _, id := range ids[f.most:] {
		delete(f.since, id)
	}
	f.cut, f.until = true, ids[f.most-1]
}

// members are those that are kept, in the order of their ids.
func (f *first) members() []Member {
	all := make([]Member, 0, len(f.since))
	for _, id := range slices.Sorted(maps.Keys(f.since)) {
		all = append(all, Member{id, f.since[id]})
	}
	return all
}
