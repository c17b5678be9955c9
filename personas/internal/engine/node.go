package engine

import (
	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/event"
	"github.com/anabranch/anabranch/personas/internal/state"
)

// node is a node of an audience's tree, compiled.
type node struct {
	kind     nodeKind
	children []*node
	memo     int // where the result is kept while a user is looked at; -1: nowhere

	leaf   *leaf
	query  state.Query
	test   event.Test
	source *definition.Leaf
}

type nodeKind uint8

const (
	allOf nodeKind = iota
	anyOf
	not
	reference // of an audience: its node is the only child
	stateOf
	seenAt
)

// result is whether a node holds, and the first instant after at which that may change.
type result struct {
	holds, done bool
	flips       int64
}

// eval evaluates a node for a user at an instant. Memo keeps the results of audiences: one
// may be referred to along many ways.
func (n *node) eval(p *Profile, now int64, memo []result) result {
	if n.memo < 0 {
		return n.evalKind(p, now, memo)
	}
	if !memo[n.memo].done {
		r := n.evalKind(p, now, memo)
		r.done = true
		memo[n.memo] = r
	}
	return memo[n.memo]
}

func (n *node) evalKind(p *Profile, now int64, memo []result) result {
	switch n.kind {
	case stateOf:
		holds, flips := n.query.Holds(p.state(n.leaf), n.test, now)
		return result{holds: holds, flips: flips}
	case seenAt:
		value := n.seen(p)
		return result{holds: n.test.Holds(value, now), flips: n.test.Flips(value, now)}
	case reference:
		return n.children[0].eval(p, now, memo)
	case not:
		r := n.children[0].eval(p, now, memo)
		return result{holds: !r.holds, flips: r.flips}
	default:
		return n.evalChildren(p, now, memo)
	}
}

// evalChildren evaluates all and any. Every child is asked: the instant at which one
// flips counts even where another decides.
func (n *node) evalChildren(p *Profile, now int64, memo []result) result {
	all := result{holds: n.kind == allOf, flips: event.Never}
	for _, child := range n.children {
		r := child.eval(p, now, memo)
		if n.kind == allOf {
			all.holds = all.holds && r.holds
		} else {
			all.holds = all.holds || r.holds
		}
		all.flips = min(all.flips, r.flips)
	}
	return all
}

func (n *node) seen(p *Profile) event.Value {
	switch {
	case !p.seen:
		return event.Value{}
	case n.source.Profile == definition.FirstSeen:
		return event.InstantValue(p.first)
	default:
		return event.InstantValue(p.last)
	}
}
