package definition

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/document"
)

// form is one of the things that a node of a tree may be. Its deciding key tells which.
type form struct {
	key     string
	desc    string
	members []member[Cond]
	// finish judges the node as a whole.
	finish func(p place, there map[string]place, to *Cond)
}

// conditionForms are all that a node at a depth may be.
func conditionForms(depth int) []form {
	list := refsNotation("condition", "a list of conditions")
	return []form{
		{"all", "holds if each of several does", []member[Cond]{
			{"all", list, required, "conditions", func(p place, to *Cond) { to.All = p.conds(depth) }},
		}, nil},
		{"any", "holds if one of several does", []member[Cond]{
			{"any", list, required, "conditions", func(p place, to *Cond) { to.Any = p.conds(depth) }},
		}, nil},
		{"not", "holds if another does not", []member[Cond]{
			{"not", refNotation("condition", wantOneCondition()), required, "a condition", func(p place, to *Cond) {
				child := p.cond(depth + 1)
				to.Not = &child
			}},
		}, nil},
		didForm(),
		{"trait", "compares a trait of identify calls", []member[Cond]{
			{"trait", pathNotation(), required, "its path, in what they have set last", func(p place, to *Cond) { leaf(to).Trait = parsed(p, wantPath, ParsePath) }},
			isMember(anyValue),
		}, nil},
		{"computed", "compares a computed trait", []member[Cond]{
			{"computed", idNotation(), required, "its id", func(p place, to *Cond) { leaf(to).Computed = p.id() }},
			isMember(anyValue),
		}, nil},
		{"profile", "compares the time at which a user was seen", []member[Cond]{
			{"profile", wordNotation(FirstSeen, LastSeen), required, "that of the first or the last call", func(p place, to *Cond) { leaf(to).Profile = oneOf(p, []ProfileField{FirstSeen, LastSeen}) }},
			isMember(seenTime),
		}, nil},
		{"audience", "holds for the members of another audience", []member[Cond]{
			{"audience", idNotation(), required, "its id", func(p place, to *Cond) { leaf(to).Audience = p.id() }},
		}, nil},
	}
}

func leaf(c *Cond) *Leaf {
	if c.Leaf == nil {
		c.Leaf = new(Leaf)
	}
	return c.Leaf
}

// refsNotation is a list of a part that the grammar gives a name.
func refsNotation(part, want string) notation {
	return notation{want, "list of " + part + "s", object{"type": "array", "items": refNotation(part, want).schema, "minItems": 1}}
}

// isMember is the test of a leaf that compares one value.
func isMember(d *domain) member[Cond] {
	return member[Cond]{"is", d.notation(), required, "the test of its value", func(p place, to *Cond) { leaf(to).Is = p.test(d) }}
}

// formKeys are the keys that decide what a node is.
func formKeys() []string {
	return []string{"all", "any", "not", "did", "trait", "computed", "profile", "audience"}
}

func wantOneCondition() string { return wantCondition + strings.Join(formKeys(), ", ") }

// cond reads a node of a tree; the one under `when` has the depth 1.
func (p place) cond(depth int) Cond {
	var c Cond
	if document.KindOf(p.node) != "a mapping" {
		p.expected(wantOneCondition())
		return c
	}
	if depth > MaxDepth {
		p.report(fmt.Sprintf("a condition at depth %d", depth), fmt.Sprintf("a depth of at most %d; the one under when is 1", MaxDepth))
		return c
	}
	var is []string
	for pair := range slices.Chunk(p.node.Content, 2) {
		if slices.Contains(formKeys(), pair[0].Value) && !slices.Contains(is, pair[0].Value) {
			is = append(is, pair[0].Value)
		}
	}
	switch len(is) {
	case 0:
		p.undecided()
	case 1:
		forms := conditionForms(depth)
		f := forms[slices.IndexFunc(forms, func(f form) bool { return f.key == is[0] })]
		there := readMembers(p, wantOneCondition(), f.members, &c)
		if f.finish != nil {
			f.finish(p, there, &c)
		}
	default:
		p.report("the keys "+strings.Join(is, " and "), "one of them; all: [...] joins several conditions")
	}
	return c
}

// undecided reports a node of which no key tells what it is: its keys are misspelt, or
// those of a later release.
func (p place) undecided() {
	p.unknown = true
	for pair := range slices.Chunk(p.node.Content, 2) {
		key := place{p.reader, pair[0], document.MemberPath(p.path, pair[0].Value)}
		if near := document.Suggestion(pair[0].Value, formKeys()); !strings.HasPrefix(near, "one of") || later[pair[0].Value] != "" {
			key.stranger(formKeys())
			return
		}
	}
	p.expected(wantOneCondition())
}

func (p place) conds(depth int) []Cond {
	items := p.items("conditions")
	conds := make([]Cond, len(items))
	for i, item := range items {
		conds[i] = item.cond(depth + 1)
	}
	return conds
}
