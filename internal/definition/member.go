package definition

import (
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/document"
)

// member is a key of a mapping. The tables of members are the grammar: what reads a
// definition, the published schema and the reference all go by them.
type member[T any] struct {
	key     string
	what    notation // what stands there
	initial string   // what absence means; [required]
	desc    string
	read    func(p place, to *T)
}

// required is the initial of a key that may not be absent.
const required = "(required)"

// notation is what may stand at a place, for people and for editors.
type notation struct {
	want   string // "a duration"
	name   string // of the type, in the reference: "duration"
	schema map[string]any
}

// later are keys of the grammar that this release does not have, with what they are for.
var later = map[string]string{
	"then":     "not supported yet: an event that follows another one",
	"then_not": "not supported yet: an event that does not follow another one",
	"same":     "not supported yet: equal values in two events",
	"session":  "not supported yet: sessions as a window",
}

// readMembers reads a mapping by its table, in the order of the table. It returns what
// stands at each key; nil where there is no mapping.
func readMembers[T any](p place, want string, table []member[T], to *T) map[string]place {
	entries, ok := p.entries(want, document.MemberPath)
	if !ok {
		return nil
	}
	there := make(map[string]place, len(entries))
	for _, e := range entries {
		name := e.key.node.Value
		if slices.ContainsFunc(table, func(m member[T]) bool { return m.key == name }) {
			there[name] = e.value
		} else {
			e.key.stranger(keysOf(table))
		}
	}
	for _, m := range table {
		if at, ok := there[m.key]; ok {
			m.read(at, to)
		} else if m.initial == required {
			p.missing(m.key, m.what.want)
		}
	}
	return there
}

func keysOf[T any](table []member[T]) []string {
	keys := make([]string, len(table))
	for i, m := range table {
		keys[i] = m.key
	}
	return keys
}

// stranger reports a key that is none of those known there.
func (p place) stranger(known []string) {
	name := p.node.Value
	p.unknown = true
	if reason, ok := later[name]; ok {
		p.report(reason, "a definition without "+name)
		return
	}
	p.report("unknown key", document.Suggestion(name, known))
}

// missing reports that a mapping lacks a key.
func (p place) missing(key, want string) {
	p.found.Add(document.Problem{Line: p.node.Line, Path: strings.TrimPrefix(p.path+"."+key, "."), Value: "missing", Want: want})
}

// conflict reports what stands at a key that goes together with none of others that
// stand there too. It returns true if it did.
func conflict(there map[string]place, key string, others ...string) bool {
	at, ok := there[key]
	for _, other := range others {
		if _, both := there[other]; ok && both {
			at.report("beside "+other, "only one of the two")
			return true
		}
	}
	return false
}
