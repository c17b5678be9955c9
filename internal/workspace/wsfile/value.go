package wsfile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/schemas"
)

// value is one place of the document: what stands there and the path to it.
// All that decodes it goes on after a problem, so that one reading reports all
// of them: a value that is absent or of the wrong kind is reported once, and
// what is then read from it is empty.
type value struct {
	*decoder
	node   *yaml.Node // nil: absent, and reported if it had to be there
	path   string
	hidden bool // what stands here may be a secret: problems don't show it
}

func (v value) absent() bool { return v.node == nil }

// expected reports that something else was expected at this place.
func (v value) expected(want string) {
	v.found.add(Problem{Line: v.node.Line, Path: v.path, Value: v.shown(), Want: want})
}

// shown says what stands at the place. Of text it shows at most the beginning.
func (v value) shown() string {
	kind := kindOf(v.node)
	switch {
	case kind != "text":
		return kind
	case v.hidden:
		return schemas.Secret(v.node.Value).String()
	case len(v.node.Value) > 100:
		return strconv.Quote(strings.ToValidUTF8(v.node.Value[:100], "")) + "…"
	default:
		return strconv.Quote(v.node.Value)
	}
}

// kindOf names the kind of a node in the words of this package. A number or a
// truth value is text as well, exactly as written: nobody should have to quote
// a header's value 1.0 to keep its zero.
func kindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		return scalarKind(node.Tag)
	case yaml.AliasNode, yaml.DocumentNode:
	}
	return "an alias"
}

func scalarKind(tag string) string {
	switch tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge":
		return "text"
	case "!!null":
		return "nothing"
	default:
		return "a value tagged " + strconv.Quote(tag) // !vault and the like
	}
}

// ofKind reports a value of another kind without showing it: whole sections
// land in the wrong place, secrets included.
func (v value) ofKind(kind, want string) bool {
	if v.absent() {
		return false
	}
	if got := kindOf(v.node); got != kind {
		v.found.add(Problem{Line: v.node.Line, Path: v.path, Value: got, Want: want})
		return false
	}
	return true
}

// text returns the text at the place.
func (v value) text(want string) (string, bool) {
	if !v.ofKind("text", want) {
		return "", false
	}
	return v.node.Value, true
}

// checked returns the text at the place if check has no objection, which it
// states as what it expected instead.
func (v value) checked(want string, check func(string) string) (string, bool) {
	text, ok := v.text(want)
	if !ok {
		return "", false
	}
	if objection := check(text); objection != "" {
		v.expected(objection)
		return "", false
	}
	return text, true
}

// boolean returns the truth value at the place, otherwise when it is absent.
func (v value) boolean(otherwise bool) bool {
	const want = "true or false"
	text, ok := v.text(want)
	if !ok {
		return otherwise
	}
	if v.node.Tag != "!!bool" {
		v.expected(want)
		return otherwise
	}
	return strings.EqualFold(text, "true")
}

// items returns the elements of the list at the place.
func (v value) items(want string) []value {
	if !v.ofKind("a list", want) {
		return nil
	}
	items := make([]value, len(v.node.Content))
	for i, node := range v.node.Content {
		items[i] = value{decoder: v.decoder, node: node, path: fmt.Sprintf("%s[%d]", v.path, i)}
	}
	return items
}

// entry is one key of a mapping and what it maps to.
type entry struct{ key, value value }

// entries returns the members of the mapping at the place, in order. Repeated
// keys are reported: which of the two is meant is not ours to guess.
func (v value) entries(want string) []entry {
	return v.members(want, memberPath)
}

// members is entries with a function that puts a key behind the path of its
// mapping, as problems may show it.
func (v value) members(want string, join func(path, key string) string) []entry {
	if !v.ofKind("a mapping", want) {
		return nil
	}
	var entries []entry
	lines := make(map[string]int)
	for pair := range slices.Chunk(v.node.Content, 2) {
		key := value{decoder: v.decoder, node: pair[0], path: v.path, hidden: true}
		name, ok := key.text("a key that is text")
		if !ok {
			continue
		}
		path := join(v.path, name)
		if line := lines[name]; line > 0 {
			v.found.add(Problem{Line: pair[0].Line, Path: path, Value: "repeated", Want: fmt.Sprintf("the key once; it is also on line %d", line)})
			continue
		}
		lines[name] = pair[0].Line
		key.path, key.hidden = path, !plainKey.MatchString(name)
		entries = append(entries, entry{key, value{decoder: v.decoder, node: pair[1], path: path, hidden: v.hidden}})
	}
	return entries
}

// memberPath is the path of a member under a key that is one of ours.
func memberPath(path, key string) string {
	return strings.TrimPrefix(path+"."+safeKey(key), ".")
}

var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

// safeKey returns a key as problems may show it. `{sharedSecret:s3cret}`, with
// the space forgotten, is a key too.
func safeKey(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	return "(key)"
}

// object is a mapping with known keys.
type object struct {
	of     value
	fields map[string]value
}

// object reads the mapping at the place. Keys that are not among keys are
// reported, with the nearest of keys.
func (v value) object(want string, keys ...string) object {
	o := object{of: v, fields: make(map[string]value, len(keys))}
	for _, e := range v.entries(want) {
		key := e.key.node.Value
		if !slices.Contains(keys, key) {
			v.found.add(Problem{Line: e.key.node.Line, Path: e.key.path, Value: "unknown key", Want: suggestion(key, keys)})
			continue
		}
		o.fields[key] = e.value
	}
	return o
}

// get returns the value of a key, absent if the mapping lacks it.
func (o object) get(key string) value {
	if field, ok := o.fields[key]; ok {
		return field
	}
	return value{decoder: o.of.decoder}
}

// need is get for a key that has to be there; want says what it should hold.
func (o object) need(key, want string) value {
	field := o.get(key)
	if field.absent() && !o.of.absent() && o.of.node.Kind == yaml.MappingNode {
		path := strings.TrimPrefix(o.of.path+"."+key, ".")
		o.of.found.add(Problem{Line: o.of.node.Line, Path: path, Value: "missing", Want: want})
	}
	return field
}

// claims holds what has to be unique, with the line of the first use.
type claims map[string]int

// claim reports the second use of key. what names the thing: "an id".
func (c claims) claim(v value, key, what string) {
	if line, taken := c[key]; taken {
		v.expected(fmt.Sprintf("%s of its own; line %d has the same", what, line))
		return
	}
	c[key] = v.node.Line
}
