package rows

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/schemas"
)

const (
	typeText    = "text"
	typeNumber  = "number"
	typeBoolean = "boolean"

	layoutISO    = "iso"
	layoutUnix   = "unix"
	layoutUnixMs = "unix_ms"

	whitespace = "whitespace"

	maxMapping = 1 << 20
)

// Mapping says which column of a table becomes which member of a call.
type Mapping struct {
	file      string
	text      []byte
	lastLine  int
	separator string
	header    bool
	columns   []string // without a header
	root      *member
}

// member is a member of a call: an object with others in it, a constant, or a cell.
type member struct {
	key      string
	path     string
	line     int
	children []*member
	rest     bool // has the columns that no other member has
	constant *string
	cell     *cell
}

// LoadMapping reads a mapping. The error lists all that is wrong with it, by line.
func LoadMapping(file string) (*Mapping, error) {
	in, err := os.Open(file) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	text, err := io.ReadAll(io.LimitReader(in, maxMapping+1))
	if err != nil {
		return nil, err
	}
	return ParseMapping(file, text)
}

// ParseMapping reads the text of a mapping; file is what errors call it.
func ParseMapping(file string, text []byte) (*Mapping, error) {
	m := &Mapping{file: file, text: text, lastLine: 1 + bytes.Count(text, []byte("\n")), separator: ",", header: true, root: new(member)}
	var root yaml.Node
	switch err := yaml.Unmarshal(text, &root); {
	case len(text) > maxMapping:
		return nil, fmt.Errorf("%s: expected at most %d bytes", file, maxMapping)
	case err != nil:
		return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var found document.Problems
	if len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		found.Add(document.Problem{Line: 1, Want: `a mapping of members to columns, such as "userId: email"`})
		return nil, found.Err(file, m.lastLine)
	}
	r := &mappingReader{Mapping: m, found: &found}
	seen := make(map[string]bool)
	pairs(root.Content[0], func(key, value *yaml.Node) {
		if seen[key.Value] {
			r.problem(key, key.Value, "", "each key once")
			return
		}
		seen[key.Value] = true
		r.entry(key, value)
	})
	r.complete()
	return m, found.Err(file, m.lastLine)
}

// mappingReader collects what is wrong with a mapping while it is read.
type mappingReader struct {
	*Mapping

	found *document.Problems
}

func (r *mappingReader) problem(at *yaml.Node, path, value, want string) {
	r.found.Add(document.Problem{Line: at.Line, Path: path, Value: value, Want: want})
}

func pairs(node *yaml.Node, each func(key, value *yaml.Node)) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		each(node.Content[i], node.Content[i+1])
	}
}

// entry reads one line of the mapping: an option, or a member.
func (r *mappingReader) entry(key, value *yaml.Node) {
	switch key.Value {
	case "separator":
		r.readSeparator(value)
	case "header":
		if value.Value != "true" && value.Value != "false" {
			r.problem(value, "header", document.Shown(value), "true or false")
		}
		r.header = value.Value != "false"
	case "columns":
		r.readColumns(value)
	default:
		r.readMember(key, value)
	}
}

func (r *mappingReader) readSeparator(value *yaml.Node) {
	switch value.Value {
	case ",", ";", "\t", "|", whitespace:
		r.separator = value.Value
	case "tab":
		r.separator = "\t"
	default:
		r.problem(value, "separator", document.Shown(value), `one of ",", ";", "|", tab, whitespace`)
	}
}

func (r *mappingReader) readColumns(value *yaml.Node) {
	if value.Kind != yaml.SequenceNode || len(value.Content) == 0 {
		r.problem(value, "columns", document.Shown(value), "a list of the names of all columns")
		return
	}
	for i, name := range value.Content {
		if name.Kind != yaml.ScalarNode || name.Value == "" || slices.Contains(r.columns, name.Value) {
			r.problem(name, document.ElementPath("columns", i), document.Shown(name), "a name that no other column has")
		}
		r.columns = append(r.columns, name.Value)
	}
}

// members are those that a call may have at its top.
var members = []string{
	"type", "userId", "anonymousId", "groupId", "previousId", "messageId", "event", "name", "category",
	"timestamp", "properties", "traits", "context", "integrations",
}

// objects are those of members that have others in them.
var objects = []string{"properties", "traits", "context", "integrations"}

func (r *mappingReader) readMember(key, value *yaml.Node) {
	path := key.Value
	steps := strings.Split(path, ".")
	isObject := slices.Contains(objects, steps[0])
	switch {
	case !slices.Contains(members, steps[0]):
		r.problem(key, path, "", "separator, header, columns, or a member of a call: "+document.Suggestion(steps[0], members))
		return
	case isObject && len(steps) < 2, !isObject && len(steps) > 1, slices.Contains(steps, ""):
		want := "a member of a call without a point in its name"
		if isObject {
			want = fmt.Sprintf("a member of it, such as %s.plan, or %s.*", steps[0], steps[0])
		}
		r.problem(key, path, "", want)
		return
	}
	m := r.root
	for _, step := range steps[:len(steps)-1] {
		m = m.child(step, path, key.Line)
		if m.cell != nil || m.constant != nil {
			r.problem(key, path, "", fmt.Sprintf("no member below %s, which is a column itself", m.path))
			return
		}
	}
	last := steps[len(steps)-1]
	if last == "*" {
		if value.Value != "rest" {
			r.problem(value, path, document.Shown(value), "rest: all columns that no other member has")
		}
		m.rest = true
		return
	}
	if m.has(last) {
		r.problem(key, path, "", "a column or members below it, found both")
		return
	}
	r.readValue(m.child(last, path, key.Line), value)
}

func (m *member) has(key string) bool {
	return slices.ContainsFunc(m.children, func(c *member) bool { return c.key == key })
}

// child returns the member below m with a key, a new one if need be.
func (m *member) child(key, path string, line int) *member {
	for _, c := range m.children {
		if c.key == key {
			return c
		}
	}
	c := &member{key: key, path: path, line: line}
	m.children = append(m.children, c)
	return c
}

// readValue reads what a member is: a column, ="a constant", or {column: …}.
func (r *mappingReader) readValue(m *member, value *yaml.Node) {
	const want = `the name of a column, a constant such as "=Order Completed", or {column: NAME, type: number}`
	switch {
	case value.Kind == yaml.ScalarNode && strings.HasPrefix(value.Value, "="):
		constant := value.Value[1:]
		m.constant = &constant
	case value.Kind == yaml.ScalarNode && value.Value != "" && value.Tag != "!!null":
		m.cell = &cell{column: value.Value, typ: typeText}
	case value.Kind == yaml.MappingNode:
		m.cell = &cell{typ: typeText}
		r.readCell(m, value)
	default:
		r.problem(value, m.path, document.Shown(value), want)
		m.cell = &cell{}
	}
	if m.path == "timestamp" && m.cell != nil && m.cell.layout == "" {
		m.cell.layout, m.cell.zone = layoutISO, time.UTC
	}
	if m.path == "type" && m.constant != nil && !slices.Contains(types, schemas.Type(*m.constant)) {
		r.problem(value, m.path, document.Shown(value), "the type of a call: "+document.Suggestion(*m.constant, typeNames()))
	}
}

var types = []schemas.Type{schemas.TypeIdentify, schemas.TypeTrack, schemas.TypePage, schemas.TypeScreen, schemas.TypeGroup, schemas.TypeAlias}

func typeNames() []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return names
}

func (r *mappingReader) readCell(m *member, node *yaml.Node) {
	pairs(node, func(key, value *yaml.Node) {
		path := m.path + "." + key.Value
		switch key.Value {
		case "column":
			m.cell.column = value.Value
		case "type":
			kinds := []string{typeText, typeNumber, typeBoolean}
			if m.cell.typ = value.Value; !slices.Contains(kinds, value.Value) {
				r.problem(value, path, document.Shown(value), "one of "+strings.Join(kinds, ", "))
			}
		case "layout":
			if m.cell.layout = value.Value; !isLayout(value.Value) {
				r.problem(value, path, document.Shown(value), `iso, unix, unix_ms or a Go layout, which is how it writes the 2nd of January 2006, 15:04:05, such as "02.01.2006 15:04"`)
			}
		case "zone":
			zone, err := time.LoadLocation(value.Value)
			if err != nil || value.Value == "" || value.Value == "Local" {
				r.problem(value, path, document.Shown(value), "a time zone such as Europe/Berlin")
			}
			m.cell.zone = zone
		default:
			r.problem(key, path, "", document.Suggestion(key.Value, []string{"column", "type", "layout", "zone"}))
		}
	})
	if m.cell.column == "" {
		r.problem(node, m.path+".column", "", "the name of a column")
	}
	switch {
	case m.cell.zone != nil && m.cell.layout == "":
		m.cell.layout = layoutISO
	case m.cell.zone == nil:
		m.cell.zone = time.UTC
	}
}

// isLayout reports whether a layout says what a date is.
func isLayout(layout string) bool {
	switch layout {
	case layoutISO, layoutUnix, layoutUnixMs:
		return true
	}
	at := time.Date(2019, 11, 28, 0, 0, 0, 0, time.UTC)
	got, err := time.Parse(layout, at.Format(layout))
	return err == nil && got.Equal(at)
}

// complete says what a mapping lacks. Its type follows from what it has, unless it says
// one.
func (r *mappingReader) complete() {
	if !r.header && r.columns == nil {
		r.found.Add(document.Problem{Line: 1, Path: "columns", Want: "the names of all columns, since header is false"})
	}
	if r.root.has("type") {
		return
	}
	kind := ""
	switch {
	case r.root.has("event"):
		kind = string(schemas.TypeTrack)
	case r.root.has("traits") && !r.root.has("groupId"):
		kind = string(schemas.TypeIdentify)
	default:
		r.found.Add(document.Problem{Line: 1, Path: "type", Want: `a constant such as "=track", or the name of a column`})
		return
	}
	r.root.children = append([]*member{{key: "type", path: "type", constant: &kind}}, r.root.children...)
}

// over returns what makes calls of records with the given columns.
func (m *Mapping) over(columns []string, file string) (*maker, error) {
	k := &maker{root: m.root, index: make(map[*member]int), names: columns}
	var found document.Problems
	used := make(map[int]bool)
	m.root.each(func(c *member) {
		if c.cell == nil {
			return
		}
		i := slices.Index(columns, c.cell.column)
		if i < 0 {
			found.Add(document.Problem{Line: c.line, Path: c.path, Value: quoted(c.cell.column), Want: fmt.Sprintf("a column of %s: %s", file, document.Suggestion(c.cell.column, columns))})
		}
		k.index[c], used[i] = i, true
	})
	for i, name := range columns {
		// One without a name has no member to become: spreadsheets end in some, and data
		// frames begin with one.
		if !used[i] && name != "" {
			k.rest = append(k.rest, i)
		}
	}
	m.root.each(func(c *member) { k.clash(c, file, &found) })
	if err := found.Err(m.file, m.lastLine); err != nil {
		return nil, err
	}
	return k, m.twice(columns, file)
}

// clash finds members below one with the rest whose name a column of the rest has too.
func (k *maker) clash(m *member, file string, found *document.Problems) {
	for _, c := range m.children {
		if m.rest && slices.ContainsFunc(k.rest, func(i int) bool { return k.names[i] == c.key }) {
			found.Add(document.Problem{Line: c.line, Path: c.path, Want: fmt.Sprintf("another name: %s has a column %s too, which is one of the rest", file, quoted(c.key))})
		}
	}
}

// twice refuses columns of one name where it matters which of them is meant.
func (m *Mapping) twice(columns []string, file string) error {
	matters, rest := make(map[string]bool), false
	m.root.each(func(c *member) {
		if rest = rest || c.rest; c.cell != nil {
			matters[c.cell.column] = true
		}
	})
	for i, name := range columns {
		if name != "" && (rest || matters[name]) && slices.Contains(columns[:i], name) {
			return fmt.Errorf("%s: found the column %s twice, expected each name once: columns in the mapping can name them", file, quoted(name))
		}
	}
	return nil
}

// each visits the members below m.
func (m *member) each(visit func(*member)) {
	for _, c := range m.children {
		visit(c)
		c.each(visit)
	}
}
