package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/personas/internal/event"
	"github.com/anabranch/anabranch/schemas"
)

// Node explains a node of an audience's tree, or a computed trait.
type Node struct {
	Text      string // all, any, not, or what a leaf looks at, in the grammar's words
	Holds     bool   // of a computed trait: that there is a value
	Value     []byte // of a leaf: stable JSON; nil: it has none
	Threshold string // of a leaf: its test
	FlipsAt   time.Time
	Children  []Node
}

// Explain says why a user is a member or not, or what a computed trait is, at an instant.
// It changes nothing that is stored. A node's FlipsAt is when it may flip by itself, at
// the earliest; zero: never. The error names a definition of which nothing is told.
func (c *Catalogue) Explain(p *Profile, key string, now time.Time) (Node, error) {
	p.bind(c)
	at := max(now.UnixMilli(), p.clock, p.last)
	for _, d := range c.told {
		switch {
		case d.key != key:
		case d.node != nil:
			return d.node.explain(p, at, make([]result, c.memos)), nil
		case d.leaf != nil:
			st := p.state(d.leaf)
			got := d.query.Get(st, at)
			return Node{Text: string(d.query.Take), Holds: !got.Empty, Value: got.JSON(), FlipsAt: timeOf(d.query.Edge(st, at))}, nil
		}
	}
	return Node{}, fmt.Errorf("there is no audience or computed trait %q that is enabled", key)
}

func timeOf(at int64) time.Time {
	if at == event.Never {
		return time.Time{}
	}
	return time.UnixMilli(at).UTC()
}

func (n *node) explain(p *Profile, now int64, memo []result) Node {
	r := n.eval(p, now, memo)
	out := Node{Text: n.text(), Holds: r.holds, FlipsAt: timeOf(r.flips)}
	switch n.kind {
	case allOf, anyOf, not: // what another audience is made of is its own affair
		for _, child := range n.children {
			out.Children = append(out.Children, child.explain(p, now, memo))
		}
	case stateOf:
		if value := n.query.Get(p.state(n.leaf), now).JSON(); string(value) != "null" {
			out.Value = value
		}
		out.Threshold = testText(n.testSource())
	case seenAt:
		out.Threshold = testText(n.source.Is)
		if first, last := p.Seen(); p.seen {
			if n.source.Profile == definition.LastSeen {
				first = last
			}
			out.Value = stablejson.AppendString(nil, first.Format(schemas.TimeLayout))
		}
	default:
	}
	return out
}

func (n *node) testSource() definition.Test {
	if n.source.Did != nil {
		return n.source.Did.Is
	}
	return n.source.Is
}

func (n *node) text() string {
	switch n.kind {
	case allOf:
		return "all"
	case anyOf:
		return "any"
	case not:
		return "not"
	case reference:
		return "audience: " + n.source.Audience
	case seenAt:
		return "profile: " + string(n.source.Profile)
	default:
		return leafText(n.source)
	}
}

func leafText(l *definition.Leaf) string {
	switch {
	case l.Computed != "":
		return "computed: " + l.Computed
	case l.Did == nil:
		return "trait: " + strings.Join(l.Trait, ".")
	}
	e := &l.Did.Event
	name := e.Name
	if e.AnyName {
		name = "*"
	}
	if e.Type != definition.Track {
		name = fmt.Sprintf("{%s: %s}", e.Type, name)
	}
	text := "did: " + name
	if l.Did.Take != definition.Count && l.Did.Take != "" {
		text += fmt.Sprintf(" take: %s of: %s", l.Did.Take, strings.Join(l.Did.Of, "."))
	}
	return text + windowText(e.Window)
}

func windowText(w definition.Window) string {
	switch w.Kind {
	case definition.Within:
		return " within: " + definition.FormatDuration(w.Far)
	case definition.Between:
		return fmt.Sprintf(" between: [%s, %s]", definition.FormatDuration(w.Far), definition.FormatDuration(w.Near))
	case definition.Since:
		text := " since: " + w.Since.UTC().Format(time.RFC3339)
		if !w.Until.IsZero() {
			text += " until: " + w.Until.UTC().Format(time.RFC3339)
		}
		return text
	default:
		return ""
	}
}
