package definition

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/document"
)

// reader is what all places of one definition share.
type reader struct {
	found   document.Problems
	unknown bool // there are keys or words that this release does not have
}

// place is one place of a definition: what stands there and the path to it. Reading goes
// on after a mistake, so that one reading finds all of them.
type place struct {
	*reader
	node *yaml.Node
	path string
}

// expected reports that something else was expected.
func (p place) expected(want string) { p.report(document.Shown(p.node), want) }

func (p place) report(shown, want string) {
	p.found.Add(document.Problem{Line: p.node.Line, Path: p.path, Value: shown, Want: want})
}

// tagged tells whether a scalar of one of the tags stands there, and reports it if not.
func (p place) tagged(want string, tags ...string) bool {
	if p.node.Kind == yaml.ScalarNode && slices.Contains(tags, p.node.Tag) {
		return true
	}
	p.expected(want)
	return false
}

// text returns text. What looks like a number or a truth value is none: nothing is
// coerced.
func (p place) text(want string) (string, bool) {
	return p.node.Value, p.tagged(want, textTags...)
}

// textTags are those of what YAML 1.2 takes for text.
var textTags = []string{"!!str", "!!timestamp", "!!merge"}

// parsed returns what parse makes of the text there.
func parsed[T any](p place, want string, parse func(string) (T, bool)) T {
	value, ok := parse(p.node.Value)
	switch isNumber := document.KindOf(p.node) == "text" && !slices.Contains(textTags, p.node.Tag); {
	case isNumber && ok:
		p.expected(want + "; quotes make text of it")
	case isNumber:
		p.expected(want)
	default:
		if _, isText := p.text(want); isText && !ok {
			p.expected(want)
		}
	}
	return value
}

func (p place) name() string {
	return parsed(p, wantName, func(text string) (string, bool) { return text, validName(text) })
}

// duration returns a duration of at least a second.
func (p place) duration() time.Duration {
	return parsed(p, wantDuration, func(text string) (time.Duration, bool) {
		d, ok := ParseDuration(text)
		return d, ok && d > 0
	})
}

func (p place) time() time.Time { return parsed(p, wantTime, parseTime) }

// valuePath returns the path to a value of an event.
func (p place) valuePath() Path {
	return parsed(p, wantValuePath, parseValuePath)
}

func (p place) boolean() bool {
	return p.tagged("true or false", "!!bool") && strings.EqualFold(p.node.Value, "true")
}

// oneOf returns one of the words.
func oneOf[T ~string](p place, words []T) T {
	return parsed(p, "one of "+join(words, ", "), func(text string) (T, bool) {
		ok := slices.Contains(words, T(text))
		p.unknown = p.unknown || !ok
		return T(text), ok
	})
}

func join[T ~string](words []T, between string) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return strings.Join(texts, between)
}

// items returns the elements of a list, of which there have to be some.
func (p place) items(want string) []place {
	if document.KindOf(p.node) != "a list" || len(p.node.Content) == 0 {
		p.expected("a list of one or more " + want)
		return nil
	}
	items := make([]place, len(p.node.Content))
	for i, node := range p.node.Content {
		items[i] = place{p.reader, node, document.ElementPath(p.path, i)}
	}
	return items
}

// ids returns a list of ids, ascending, of at most so many; 0: of any number.
func (p place) ids(of string, most int) []string {
	var ids []string
	seen := make(map[string]bool)
	for _, item := range p.items("ids of " + of) {
		id, ok := item.text("the id of one of the " + of)
		switch {
		case !ok:
		case seen[id]:
			item.report(document.Shown(item.node)+" repeated", "each id once")
		default:
			seen[id] = true
			ids = append(ids, id)
		}
	}
	if most > 0 && len(ids) > most {
		p.report(fmt.Sprintf("%d ids", len(ids)), fmt.Sprintf("at most %d", most))
	}
	slices.Sort(ids)
	return ids
}

// entry is one key of a mapping and what it maps to.
type entry struct{ key, value place }

// entries returns the members of a mapping, in order. Which of two with one key is meant
// is not ours to guess.
func (p place) entries(want string, join func(path, key string) string) ([]entry, bool) {
	if document.KindOf(p.node) != "a mapping" {
		p.expected(want)
		return nil, false
	}
	entries := make([]entry, 0, len(p.node.Content)/2)
	lines := make(map[string]int)
	for pair := range slices.Chunk(p.node.Content, 2) {
		key := place{p.reader, pair[0], p.path}
		if document.KindOf(key.node) != "text" {
			key.expected("a key that is text")
			continue
		}
		name := key.node.Value
		key.path = join(p.path, name)
		if line, repeated := lines[name]; repeated {
			key.report("repeated", fmt.Sprintf("the key once; it is also on line %d", line))
			continue
		}
		lines[name] = key.node.Line
		entries = append(entries, entry{key, place{p.reader, pair[1], key.path}})
	}
	return entries, true
}
