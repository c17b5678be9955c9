package engine

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/anabranch/anabranch/personas/internal/event"
	"github.com/anabranch/anabranch/personas/internal/state"
	"github.com/anabranch/anabranch/schemas"
)

// Bounds of a user's state.
const (
	MaxRecordBytes = 64 << 10 // of the profile in the store
	MaxValueBytes  = 4 << 10  // of one value that is kept, as JSON
)

// Catalogue is a workspace's definitions, compiled. It does not change and may be used
// by several goroutines; a [Profile] by one at a time.
type Catalogue struct {
	told   []*computation // what is told, by key
	leaves []*leaf        // ascending by id
	events map[eventKey][]*selection
	traits []*leaf // those of traits of identify calls
	seen   marks   // the definitions that look at when users were seen
	memos  int
	memo   sync.Pool // of *[]result
	counts *Counts
	kept   bool // something is remembered of users
}

// arrange notes which definitions a leaf concerns.
func (c *Catalogue) arrange() {
	c.memo.New = func() any { memo := make([]result, c.memos); return &memo }
	c.seen = newMarks(len(c.told))
	for _, l := range c.leaves {
		l.concern = newMarks(len(c.told))
	}
	fresh := make([]result, c.memos)
	for i, d := range c.told {
		if d.seen {
			c.seen.set(i)
		}
		for _, l := range d.needs {
			l.concern.set(i)
		}
		d.fresh = d.node != nil && d.node.eval(&Profile{}, 0, fresh).holds
	}
}

// Leaves returns the leaves of all definitions that are computed: the enabled ones and
// those that they refer to. Ascending.
func (c *Catalogue) Leaves() []LeafID {
	ids := make([]LeafID, 0, len(c.leaves)+1)
	if c.kept {
		ids = append(ids, LeafSeen)
	}
	for _, l := range c.leaves {
		ids = append(ids, l.id)
	}
	return ids
}

// Leaf describes one of them; false: there is none of the id.
func (c *Catalogue) Leaf(id LeafID) (Leaf, bool) {
	if id == LeafSeen {
		return Leaf{ID: id, History: fullHistory}, c.kept
	}
	l := c.find(id)
	if l == nil {
		return Leaf{}, false
	}
	return Leaf{ID: id, History: l.history, Key: l.own, Retention: millis(l.spec.Keep)}, true
}

func (c *Catalogue) find(id LeafID) *leaf {
	i, ok := slices.BinarySearchFunc(c.leaves, id, func(l *leaf, id LeafID) int { return cmp.Compare(l.id, id) })
	if !ok {
		return nil
	}
	return c.leaves[i]
}

// Needs returns what has to be ready before anything is told of a definition, those of
// the definitions that it refers to included. Ascending; nil for a key of which nothing
// is told.
func (c *Catalogue) Needs(key string) []LeafID {
	for _, d := range c.told {
		if d.key != key {
			continue
		}
		var ids []LeafID
		if d.seen || d.fresh {
			ids = append(ids, LeafSeen)
		}
		for _, l := range d.needs {
			ids = append(ids, l.id)
		}
		slices.Sort(ids)
		return ids
	}
	return nil
}

// Concerns reports whether folding the call could change more of any user than when they
// were seen, and by which source. It looks at the call's type and name, and at the names
// of its traits.
func (c *Catalogue) Concerns(call *Call) bool {
	return !call.Own && (!c.seen.empty() || c.looksAt(call, nil))
}

// Fills is Concerns for a backfill of some leaves; every call concerns LeafSeen.
func (c *Catalogue) Fills(call *Call, only func(LeafID) bool) bool {
	return !call.Own && (only(LeafSeen) || c.looksAt(call, only))
}

func (c *Catalogue) looksAt(call *Call, only func(LeafID) bool) bool {
	found := false
	c.each(call, only, func(*leaf) { found = true }, func(*selection) bool { return true })
	return found
}

// each calls visit for each leaf that looks at a call, if its selection is good.
func (c *Catalogue) each(call *Call, only func(LeafID) bool, visit func(*leaf), good func(*selection) bool) {
	switch call.Type {
	case schemas.TypeTrack:
		visitAll(c.events[eventKey{call.Type, call.Name}], only, visit, good)
	case schemas.TypePage, schemas.TypeScreen:
		visitAll(c.events[eventKey{call.Type, call.Name}], only, visit, good)
		visitAll(c.events[eventKey{call.Type, anyName}], only, visit, good)
	case schemas.TypeIdentify:
		for _, l := range c.traits {
			if (only == nil || only(l.id)) && hasMember(call.Traits, l.trait) {
				visit(l)
			}
		}
	default:
	}
}

func visitAll(selections []*selection, only func(LeafID) bool, visit func(*leaf), good func(*selection) bool) {
	for _, s := range selections {
		if !good(s) {
			continue
		}
		for _, l := range s.leaves {
			if only == nil || only(l.id) {
				visit(l)
			}
		}
	}
}

func hasMember(object, name []byte) bool {
	members := event.MembersOf(object)
	for {
		key, _, ok := members.Next()
		if !ok || bytes.Equal(key, name) {
			return ok
		}
	}
}

// Matches reports whether a call counts for a definition: one of its leaves looks at it
// and its filters hold.
func (c *Catalogue) Matches(key string, call *Call) bool {
	matches := false
	c.each(call, nil, func(l *leaf) {
		l.concern.each(func(i int) { matches = matches || c.told[i].key == key })
	}, func(s *selection) bool { return s.matches.Matches(call) })
	return matches && !call.Own
}

// decodeState decodes a state of a leaf. One that is broken begins anew.
func (c *Catalogue) decodeState(l *leaf, raw []byte) state.State {
	st, err := l.spec.Decode(raw)
	if err != nil {
		c.counts.BrokenState.Add(1)
		return l.spec.New()
	}
	return st
}
