package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/event"
	"github.com/anabranch/anabranch/personas/internal/state"
)

// compiler compiles the definitions of one Catalogue.
type compiler struct {
	c         *Catalogue
	audiences map[string]*Audience
	traits    map[string]*Trait
	made      map[string]*computation // audiences by id; nil while one is being made
	leaves    map[string]*leaf        // by what their ids are hashes of
}

// computation is an audience or a computed trait, compiled.
type computation struct {
	class     Class
	key       string
	version   int
	told      uint64 // under what a profile notes what was told
	anonymous bool
	every     int64 // milliseconds between two changes, at least
	deleted   bool  // an audience whose members are told that they have left

	node  *node       // of an audience
	leaf  *leaf       // of a trait
	query state.Query // of a trait

	needs []*leaf // of references too
	seen  bool    // looks at when the user was seen
	fresh bool    // holds for a user without events
}

// Compile compiles definitions, which have passed validation. It fails where that would
// have: a reference to what is not there, a cycle, two definitions with one key.
func Compile(d Definitions) (*Catalogue, error) {
	c := compiler{
		c:         &Catalogue{counts: d.Counts, events: make(map[eventKey][]*selection)},
		audiences: make(map[string]*Audience),
		traits:    make(map[string]*Trait),
		made:      make(map[string]*computation),
		leaves:    make(map[string]*leaf),
	}
	if c.c.counts == nil {
		c.c.counts = new(Counts)
	}
	if err := c.collect(d); err != nil {
		return nil, err
	}
	for i := range d.Audiences {
		if err := c.tellAudience(&d.Audiences[i]); err != nil {
			return nil, err
		}
	}
	for i := range d.Traits {
		if t := &d.Traits[i]; t.Enabled && !t.Deleted {
			c.tell(c.trait(t), t.Held)
		}
	}
	return c.finish()
}

func (c *compiler) collect(d Definitions) error {
	keys := make(map[string]bool)
	for i := range d.Audiences {
		a := &d.Audiences[i]
		if keys[a.ID] {
			return fmt.Errorf("audience %q: there is another definition of this id", a.ID)
		}
		keys[a.ID], c.audiences[a.ID] = true, a
	}
	for i := range d.Traits {
		t := &d.Traits[i]
		if keys[t.ID] {
			return fmt.Errorf("trait %q: there is another definition of this id", t.ID)
		}
		keys[t.ID], c.traits[t.ID] = true, t
	}
	return nil
}

// tellAudience compiles an audience of which something may be told.
func (c *compiler) tellAudience(a *Audience) error {
	if a.Deleted {
		if a.OnDelete == definition.OnDeleteExit {
			c.tell(&computation{class: ClassAudience, key: a.ID, version: a.Version, anonymous: true, deleted: true}, a.Held)
		}
		return nil
	}
	if !a.Enabled {
		return nil
	}
	made, err := c.audience(a)
	if err == nil {
		c.tell(made, a.Held)
	}
	return err
}

func (c *compiler) tell(d *computation, held bool) {
	c.c.kept = true
	if held {
		return
	}
	d.told = hash("told", string(d.class), d.key)
	c.c.told = append(c.c.told, d)
}

// audience compiles an audience once.
func (c *compiler) audience(a *Audience) (*computation, error) {
	if made, ok := c.made[a.ID]; ok {
		if made == nil {
			return nil, fmt.Errorf("audience %q: it refers to itself", a.ID)
		}
		return made, nil
	}
	c.made[a.ID] = nil
	d := &computation{
		class: ClassAudience, key: a.ID, version: a.Version, anonymous: a.Anonymous,
		every: a.AtMostEvery.Milliseconds(),
	}
	var err error
	if d.node, err = c.node(d, a, &a.When); err != nil {
		return nil, err
	}
	d.node.memo = c.c.memos
	c.c.memos++
	c.made[a.ID] = d
	return d, nil
}

func (c *compiler) node(d *computation, a *Audience, cond *definition.Cond) (*node, error) {
	switch {
	case cond.Leaf != nil:
		return c.leafNode(d, a, cond.Leaf)
	case cond.Not != nil:
		return c.parent(d, a, not, []definition.Cond{*cond.Not})
	case len(cond.Any) > 0:
		return c.parent(d, a, anyOf, cond.Any)
	default:
		return c.parent(d, a, allOf, cond.All)
	}
}

func (c *compiler) parent(d *computation, a *Audience, kind nodeKind, conds []definition.Cond) (*node, error) {
	n := &node{kind: kind, memo: -1}
	for i := range conds {
		child, err := c.node(d, a, &conds[i])
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	return n, nil
}

func (c *compiler) leafNode(d *computation, a *Audience, l *definition.Leaf) (*node, error) {
	n := &node{memo: -1, source: l, test: event.TestOf(l.Is)}
	switch {
	case l.Did != nil:
		n.kind, n.test = stateOf, event.TestOf(l.Did.Is)
		n.leaf, n.query = c.did(ownerOf(ClassAudience, &a.Common), l.Did)
		d.need(n.leaf)
	case l.Trait != nil:
		n.kind = stateOf
		n.leaf, n.query = c.userTrait(ownerOf(ClassAudience, &a.Common), l.Trait)
		d.need(n.leaf)
	case l.Profile != "":
		n.kind, d.seen = seenAt, true
	case l.Computed != "":
		t, ok := c.traits[l.Computed]
		if !ok || t.Deleted {
			return nil, fmt.Errorf("audience %q: there is no computed trait %q", a.ID, l.Computed)
		}
		made := c.trait(t)
		n.kind, n.leaf, n.query = stateOf, made.leaf, made.query
		d.need(n.leaf)
	default:
		return c.reference(d, a, l, n)
	}
	return n, nil
}

func (c *compiler) reference(d *computation, a *Audience, l *definition.Leaf, n *node) (*node, error) {
	other, ok := c.audiences[l.Audience]
	if !ok || other.Deleted {
		return nil, fmt.Errorf("audience %q: there is no audience %q", a.ID, l.Audience)
	}
	made, err := c.audience(other)
	if err != nil {
		return nil, err
	}
	n.kind, n.children = reference, []*node{made.node}
	d.need(made.needs...)
	d.seen = d.seen || made.seen
	return n, nil
}

func (d *computation) need(leaves ...*leaf) {
	for _, l := range leaves {
		if !slices.Contains(d.needs, l) {
			d.needs = append(d.needs, l)
		}
	}
}

// trait compiles a computed trait.
func (c *compiler) trait(t *Trait) *computation {
	most := definition.MaxValues
	if t.MaxValues > 0 && t.Take != definition.MostFrequent {
		most = t.MaxValues
	}
	if t.Take == definition.Count {
		most = math.MaxInt // a count that is told is whole: it has no ring
	}
	d := &computation{
		class: ClassComputedTrait, key: t.ID, version: t.Version, anonymous: t.Anonymous,
		every: t.AtMostEvery.Milliseconds(),
	}
	spec := state.SpecOf(t.Take, t.Event.Window, most)
	d.leaf = c.eventLeaf(ownerOf(ClassComputedTrait, &t.Common), &t.Event, t.Of, &spec)
	d.query = query(d.leaf, t.Take, t.Event.Window, t.AtLeast)
	d.need(d.leaf)
	return d
}

func query(l *leaf, take definition.Aggregate, w definition.Window, atLeast int) state.Query {
	if atLeast == 0 {
		atLeast = definition.MinOccurrence
	}
	return state.Query{Spec: &l.spec, Take: take, Window: state.WindowOf(w), AtLeast: atLeast}
}

// did compiles a condition on what a user did.
func (c *compiler) did(own owner, d *definition.Did) (*leaf, state.Query) {
	take := cmp.Or(d.Take, definition.Count)
	spec := state.SpecOf(take, d.Event.Window, most(take, d.Is))
	l := c.eventLeaf(own, &d.Event, d.Of, &spec)
	return l, query(l, take, d.Event.Window, 0)
}

// most returns how many events, or values, make a difference to a test.
func most(take definition.Aggregate, test definition.Test) int {
	const beyond = definition.MaxMaxValues
	largest := int(math.Floor(min(event.TestOf(test).Largest(), beyond)))
	if take != definition.Count {
		return min(max(largest+1, definition.MaxValues), beyond)
	}
	// Of `at least n`, n are enough: one more would change nothing.
	if len(test) == 1 && (test[0].Op == definition.Gte || test[0].Op == definition.Lt) && largest >= 1 &&
		test[0].Values[0].Number == float64(largest) {
		return largest
	}
	return largest + 1
}

// finish puts all in order, so that equal definitions make an equal Catalogue.
func (c *compiler) finish() (*Catalogue, error) {
	for _, l := range c.leaves {
		c.c.leaves = append(c.c.leaves, l)
	}
	slices.SortFunc(c.c.leaves, func(a, b *leaf) int { return cmp.Compare(a.id, b.id) })
	for i := 1; i < len(c.c.leaves); i++ {
		if c.c.leaves[i].id == c.c.leaves[i-1].id {
			return nil, fmt.Errorf("two leaves of the definitions have the id %d by chance: change a filter of one of them", c.c.leaves[i].id)
		}
	}
	slices.SortFunc(c.c.told, func(a, b *computation) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.class, b.class))
	})
	c.c.arrange()
	return c.c, nil
}
