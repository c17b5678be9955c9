package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/event"
	"github.com/anabranch/anabranch/personas/internal/state"
	"github.com/anabranch/anabranch/schemas"
)

// leaf is what is remembered of users for one or several definitions.
type leaf struct {
	id      LeafID
	spec    state.Spec
	history definition.History
	own     string // the definition that alone may use it, empty: all may
	concern marks  // the definitions that it concerns

	// of is where an event has the value; valued says that it needs one.
	of     event.Of
	valued bool
	// trait is the name of the trait that it is of, as it stands in JSON, and within
	// the path in its value.
	trait  []byte
	within event.Path
}

// selection is the leaves that look at the same calls.
type selection struct {
	text    string
	matches event.Selection
	leaves  []*leaf
}

// eventKey names the calls that a selection may look at.
type eventKey struct {
	call schemas.Type
	name string
}

// owner is whose a leaf is: that of all, or of one definition, which does not look back at
// all of the log and can't share with one that looks back otherwise.
type owner struct {
	text, key string
	history   definition.History
}

func ownerOf(class Class, d *definition.Common) owner {
	if d.History.Full {
		return owner{history: d.History}
	}
	return owner{fmt.Sprintf("%s %q since %d", class, d.ID, d.History.For.Milliseconds()), d.ID, d.History}
}

// eventLeaf returns the leaf of an event.
func (c *compiler) eventLeaf(own owner, e *definition.Event, of definition.Path, spec *state.Spec) *leaf {
	text := eventText(e)
	l, isNew := c.leaf(own, spec, text, fmt.Sprintf("%q", of))
	if !isNew {
		return l
	}
	if of != nil {
		l.of, l.valued = event.OfCall(of), true
	}
	key := eventKey{schemas.Type(e.Type), e.Name}
	if e.AnyName {
		key.name = anyName
	}
	for _, s := range c.c.events[key] {
		if s.text == text {
			s.leaves = append(s.leaves, l)
			return l
		}
	}
	c.c.events[key] = append(c.c.events[key], &selection{text, event.SelectionOf(e), []*leaf{l}})
	return l
}

// anyName stands for all names: no JSON text has it.
const anyName = "\xff*"

// userTrait returns the leaf of a trait of identify calls, and the query for its value.
func (c *compiler) userTrait(own owner, path definition.Path) (*leaf, state.Query) {
	spec := state.SpecOf(definition.Last, definition.Window{}, 0)
	l, isNew := c.leaf(own, &spec, "trait", fmt.Sprintf("%q", path))
	if isNew {
		names := event.PathOf(path)
		l.trait, l.within = names[0], names[1:]
		c.c.traits = append(c.c.traits, l)
	}
	return l, query(l, definition.Last, definition.Window{}, 0)
}

// leaf returns the leaf that needs what it says.
func (c *compiler) leaf(own owner, spec *state.Spec, what ...string) (l *leaf, isNew bool) {
	what = append(what, own.text, spec.String())
	key := strings.Join(what, "\n")
	if known, ok := c.leaves[key]; ok {
		return known, false
	}
	l = &leaf{id: LeafID(hash(what...)), spec: *spec, history: own.history, own: own.key}
	c.leaves[key] = l
	return l, true
}

// idBytes is how long ids are in a profile: by 5 bytes two of a thousand leaves are alike
// once in two million workspaces, which [Compile] finds, and each byte less saves 3 % of
// a profile.
const idBytes = 5

// hash returns an id of idBytes bytes, above LeafSeen.
func hash(what ...string) uint64 {
	h := sha256.New()
	for _, text := range what {
		h.Write([]byte(strconv.Quote(text)))
	}
	return max(binary.BigEndian.Uint64(h.Sum(nil))>>(64-8*idBytes), uint64(LeafSeen)+1)
}

// eventText says which calls an event looks at, in a form that does not change, and is
// the same for those that mean the same.
func eventText(e *definition.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q %t", e.Type, e.Name, e.AnyName)
	fmt.Fprintf(&b, " of %q but %q where", sorted(e.Sources), sorted(e.ExceptSources))
	all := make([]string, len(e.Where))
	for i, preds := range e.Where {
		texts := make([]string, len(preds))
		for j, p := range preds {
			texts[j] = fmt.Sprintf("%q %s", []string(p.Path), testText(p.Test))
		}
		all[i] = strings.Join(sorted(texts), " and ")
	}
	return b.String() + " " + strings.Join(sorted(all), " or ")
}

func sorted(texts []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(texts)))
}

// testText says what a test is, for ids and for people.
func testText(t definition.Test) string {
	texts := make([]string, len(t))
	for i, o := range t {
		texts[i] = operationText(&o)
	}
	return strings.Join(sorted(texts), ", ")
}

func operationText(o *definition.Operation) string {
	text := string(o.Op) + " "
	switch o.Op {
	case definition.Before, definition.After:
		return text + o.At.UTC().Format(schemas.TimeLayout)
	case definition.WithinLast, definition.BeforeLast, definition.WithinNext, definition.AfterNext:
		return text + o.For.String()
	default:
	}
	values := make([]string, len(o.Values))
	for i, v := range o.Values {
		values[i] = valueText(v)
	}
	if o.Op == definition.In || o.Op == definition.NotIn {
		return text + "[" + strings.Join(sorted(values), ", ") + "]"
	}
	return text + strings.Join(values, ", ")
}

func valueText(v definition.Value) string {
	switch v.Kind {
	case definition.Text:
		return strconv.Quote(v.Text)
	case definition.Number:
		return strconv.FormatFloat(v.Number, 'g', -1, 64)
	case definition.Bool:
		return strconv.FormatBool(v.Bool)
	default:
		return "null"
	}
}
