package definition

import (
	"slices"
	"strings"
	"unicode"
)

const (
	wantPath     = `a path such as a.b; a\.b is a name with a dot`
	maxPathBytes = 256
	// contextName begins a path to what stands beside an event's properties.
	contextName = "context"
)

// ParsePath reads a path: names with dots between them, `\.` for a dot in a name and `\\`
// for a backslash.
func ParsePath(text string) (Path, bool) {
	if len(text) > maxPathBytes || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return nil, false
	}
	var path Path
	var name strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (text[i+1] == '.' || text[i+1] == '\\'):
			i++
			name.WriteByte(text[i])
		case c == '\\':
			return nil, false
		case c == '.':
			path = append(path, name.String())
			name.Reset()
		default:
			name.WriteByte(c)
		}
	}
	path = append(path, name.String())
	return path, !slices.Contains(path, "")
}

const wantValuePath = wantPath + ", or a path below context"

// parseValuePath reads a path to a value of an event: in its properties, or below its
// context.
func parseValuePath(text string) (Path, bool) {
	path, ok := ParsePath(text)
	return path, ok && (len(path) > 1 || path[0] != contextName)
}

// String is the inverse of [ParsePath].
func (p Path) String() string {
	escape := strings.NewReplacer(`\`, `\\`, `.`, `\.`)
	names := make([]string, len(p))
	for i, name := range p {
		names[i] = escape.Replace(name)
	}
	return strings.Join(names, ".")
}
