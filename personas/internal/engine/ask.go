package engine

import (
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/state"
	"github.com/anabranch/anabranch/schemas"
)

// ToldID names a definition in what profiles keep of what was told.
type ToldID uint64

// ToldIDOf returns that of a definition, for those who look at many profiles.
func ToldIDOf(class Class, key string) ToldID { return ToldID(toldID(class, key)) }

// ToldOf is [Profile.Told] by the id.
func (p *Profile) ToldOf(id ToldID) (Told, bool) {
	t := p.find(uint64(id))
	if t == nil {
		return Told{}, false
	}
	return Told{Member: t.member, At: time.UnixMilli(t.at).UTC()}, true
}

// ToldValue reports whether what was told last of a computed trait is a value.
func (p *Profile) ToldValue(key string, value []byte) bool {
	t := p.find(toldID(ClassComputedTrait, key))
	return t != nil && string(t.digest) == string(digestOf(value))
}

// Counts reports whether a user does for an enabled definition: one without a user id does
// only where the definition says so.
func (c *Catalogue) Counts(p *Profile, key string) bool {
	return slices.ContainsFunc(c.told, func(d *computation) bool { return d.key == key && d.counts(p) })
}

// KnownTraits returns the user's traits that definitions look at, as stable JSON by path.
// Those that are not set are left out.
func (c *Catalogue) KnownTraits(p *Profile) map[string][]byte {
	p.bind(c)
	known := make(map[string][]byte)
	for _, l := range c.traits {
		q := state.Query{Spec: &l.spec, Take: definition.Last}
		if value := q.Get(p.state(l), 0).JSON(); string(value) != "null" {
			known[l.path.String()] = value
		}
	}
	return known
}

// Counter tells which calls are behind the value of a node of an explanation.
type Counter struct {
	// Counts reports whether a call of the user counts.
	Counts func(*Call) bool
	// Latest says that of those that count the latest alone does.
	Latest bool
}

// Counters returns them for the nodes that [Catalogue.Explain] explains at the same
// instant, each before its children; nil: the node has no calls of its own.
func (c *Catalogue) Counters(key string, now time.Time) []*Counter {
	for _, d := range c.told {
		switch {
		case d.key != key:
		case d.node != nil:
			return c.counters(nil, d.node, now.UnixMilli())
		case d.leaf != nil:
			return []*Counter{c.counter(d.leaf, d.query, now.UnixMilli())}
		}
	}
	return nil
}

func (c *Catalogue) counters(all []*Counter, n *node, now int64) []*Counter {
	if n.kind == stateOf {
		return append(all, c.counter(n.leaf, n.query, now))
	}
	all = append(all, nil)
	if n.kind == reference {
		return all
	}
	for _, child := range n.children {
		all = c.counters(all, child, now)
	}
	return all
}

func (c *Catalogue) counter(l *leaf, q state.Query, now int64) *Counter {
	return &Counter{Latest: l.trait != nil || q.Take == definition.Last, Counts: func(call *Call) bool {
		at := call.At.UnixMilli()
		if call.Own || at > now || !q.Counts(at, now) {
			return false
		}
		if l.trait != nil {
			return call.Type == schemas.TypeIdentify && hasMember(call.Traits, l.trait)
		}
		matches := false
		c.each(call, nil, func(other *leaf) { matches = matches || other == l }, func(s *selection) bool {
			return slices.Contains(s.leaves, l) && s.matches.Matches(call)
		})
		var e state.Event
		return matches && (!l.valued || c.value(l, call, &e))
	}}
}

// Restart returns a copy of a profile in which some leaves have no state: they are to be
// filled from the beginning.
func (p *Profile) Restart(leaves func(LeafID) bool) *Profile {
	clone := p.Clone()
	clone.entries = slices.DeleteFunc(clone.entries, func(e entry) bool { return leaves(e.id) })
	return clone
}
