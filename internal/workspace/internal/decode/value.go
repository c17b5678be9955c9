package decode

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/schemas"
)

// value is one place of the document: what stands there and the path to it.
// All that decodes it goes on after a problem, so that one reading reports all
// of them: a value that is absent or of the wrong form is reported once, and
// what is then read from it is empty.
type value struct {
	*Decoder
	node   *yaml.Node // nil: absent
	path   string
	scope  string // path of the list or mapping whose elements have to differ
	hidden bool   // what stands here may be a secret: problems don't show it
}

// expected reports that something else was expected at this place.
func (v value) expected(want string) {
	v.report(v.shown(), want)
}

// report is expected with what to show of the place.
func (v value) report(shown, want string) {
	v.Found.Add(document.Problem{Line: v.node.Line, Path: v.path, Value: shown, Want: want})
}

// shown says what stands at the place. Of text it shows at most the beginning.
func (v value) shown() string {
	if v.hidden && document.KindOf(v.node) == "text" {
		return schemas.Secret(v.node.Value).String()
	}
	return document.Shown(v.node)
}

// ofKind reports a value of another kind without showing it: whole sections
// land in the wrong place, secrets included.
func (v value) ofKind(kind, want string) bool {
	if got := document.KindOf(v.node); got != kind {
		v.report(got, v.worded(kind, want))
		return false
	}
	return true
}

// worded is want for a file. What is wrong with the kind of a value in a record is
// said in the words of JSON.
func (v value) worded(kind, want string) string {
	if !v.Record {
		return want
	}
	return map[string]string{"text": "a string", "a list": "an array", "a mapping": "an object"}[kind]
}

// text returns the text at the place. In a record a number is none: nobody forgot
// quotes there.
func (v value) text(want string) (string, bool) {
	if !v.ofKind("text", want) {
		return "", false
	}
	if v.Record && v.node.Tag != "!!str" {
		v.report("", v.worded("text", want))
		return "", false
	}
	return v.node.Value, true
}

// items returns the elements of the list at the place.
func (v value) items() ([]value, bool) {
	if !v.ofKind("a list", "a list; [] says that there are none") {
		return nil, false
	}
	items := make([]value, len(v.node.Content))
	for i, node := range v.node.Content {
		items[i] = value{Decoder: v.Decoder, node: node, path: document.ElementPath(v.path, i), scope: v.path}
	}
	return items, true
}

// entry is one key of a mapping and what it maps to.
type entry struct{ key, value value }

// entries returns the members of the mapping at the place, in order. Repeated
// keys are reported: which of the two is meant is not ours to guess. join puts a
// key behind the path of its mapping, as problems may show it.
func (v value) entries(want string, join func(path, key string) string) ([]entry, bool) {
	if !v.ofKind("a mapping", want) {
		return nil, false
	}
	entries := make([]entry, 0, len(v.node.Content)/2)
	lines := make(map[string]int) // in a file; a record has each member once
	for pair := range slices.Chunk(v.node.Content, 2) {
		key := value{Decoder: v.Decoder, node: pair[0], path: v.path, scope: v.path, hidden: true}
		if !key.ofKind("text", "a key that is text") {
			continue
		}
		name := key.node.Value
		path := join(v.path, name)
		if line := lines[name]; line > 0 {
			key.path = path
			key.report("repeated", fmt.Sprintf("the key once; it is also on line %d", line))
			continue
		}
		if !v.Record {
			lines[name] = pair[0].Line
		}
		key.path, key.hidden = path, !document.PlainKey(name)
		entries = append(entries, entry{key, value{Decoder: v.Decoder, node: pair[1], path: path, scope: v.scope, hidden: v.hidden}})
	}
	return entries, true
}

// claims holds what has to be unique, with the line of the first use.
type claims map[string]int

// claim reports the second use of a text below a scope. what names the thing: "an id".
func (v value) claim(key, text, what string) {
	scope := v.scope + "." + key
	taken := v.claims[scope]
	if taken == nil {
		taken = make(claims)
		v.claims[scope] = taken
	}
	if line, used := taken[text]; used {
		v.expected(fmt.Sprintf("%s of its own; line %d has the same", what, line))
		return
	}
	taken[text] = v.node.Line
}
