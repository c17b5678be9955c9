package ask

import (
	"cmp"
	"context"
	"fmt"
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
// whether there are more behind the page. It needs memory for all of them that are behind
// Page.After.
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
	id := engine.ToldIDOf(d.Kind, d.ID)
	since := make(map[string]time.Time)
	_, err = log.state(ctx, nil, func(_ int32, user, record []byte) error {
		if string(user) <= page.After {
			return nil
		}
		p, broken := c.Decode(record)
		if broken != nil {
			return fmt.Errorf("user %q: %w", user, broken)
		}
		if told, _ := p.ToldOf(id); told.Member {
			since[string(user)] = told.At
		} else {
			delete(since, string(user))
		}
		return nil
	})
	for user, at := range since {
		members = append(members, Member{user, at})
	}
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.UserID, b.UserID) })
	if page.Limit > 0 && len(members) > page.Limit {
		members, more = members[:page.Limit], true
	}
	return members, more, err
}
