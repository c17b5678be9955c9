package wsschema

import (
	"fmt"
	"io"
	"reflect"
	"text/tabwriter"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
)

const introduction = `The workspace file says in YAML which sources may send calls, which destinations receive them, and
what is computed of users. ` + "`anabranch apply -f FILE`" + ` puts it in force. Each line below is a key of the file: - begins a
list item, and <name> is a name of your choice. A secret is text, {env: NAME} or {file: PATH}, with
the path relative to the file's own folder. Editors complete the file with schemas/workspace.schema.json.

`

// WriteReference prints every key of the workspace file with its type, default, bounds
// and meaning.
func WriteReference(w io.Writer) error {
	if _, err := io.WriteString(w, introduction); err != nil {
		return fmt.Errorf("write the reference: %w", err)
	}
	return WriteReferenceOf(w, workspace.Declaration())
}

// WriteReferenceOf prints the keys of a file of a shape.
func WriteReferenceOf(w io.Writer, s *kind.Shape) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "KEY\tTYPE\tDEFAULT\tMEANING AND BOUNDS")
	rows(table, s, "", "")
	if hasTrees(s) {
		parts(table)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the reference: %w", err)
	}
	return nil
}

// parts prints what stands at several places of a definition, and within itself.
func parts(w io.Writer) {
	for _, part := range definition.Parts() {
		_, _ = fmt.Fprintf(w, "\n%s:\t\t\t%s\n", part.Name, part.Meaning)
		definitionRows(w, part.Rows, "  ", "  ")
	}
}

// definitionRows prints the keys of a definition or of a part of one.
func definitionRows(w io.Writer, all []definition.Row, first, indent string) {
	for _, row := range all {
		_, _ = fmt.Fprintf(w, "%s%s:\t%s\t%s\t%s\n", first, row.Key, row.Type, row.Initial, row.Meaning)
		first = indent
	}
}

// rows prints the fields of a struct. first is the indentation of the first one.
func rows(w io.Writer, s *kind.Shape, first, indent string) {
	for i := range s.Fields {
		f := &s.Fields[i]
		line(w, first+f.Key, f.Shape, initial(f), f.Desc+f.Only.String(), boundsOf(f))
		below(w, f.Shape, indent+"  ")
		first = indent
	}
}

// below prints what a value consists of.
func below(w io.Writer, s *kind.Shape, indent string) {
	switch s.Form {
	case kind.Struct:
		rows(w, s, indent, indent)
	case kind.List:
		switch s.Elem.Form {
		case kind.Struct:
			rows(w, s.Elem, indent+"- ", indent+"  ")
		case kind.Tree:
			_, keys := kind.Owner(reflect.Zero(s.Elem.Type)).Describe()
			definitionRows(w, keys, indent+"- ", indent+"  ")
		default:
		}
	case kind.Mapping:
		value := &s.Elem.Fields[1]
		line(w, indent+"<name>", value.Shape, "", value.Desc+"; the name "+s.Elem.Fields[0].Desc, value.Bounds())
	case kind.Map:
		line(w, indent+"<name>", s.Elem, "", "", s.Bounds())
		below(w, s.Elem, indent+"  ")
	case kind.Text, kind.Bool, kind.Number, kind.Duration, kind.Secret, kind.Tree:
	}
}

// line prints one row of the table.
func line(w io.Writer, key string, s *kind.Shape, initial, meaning, bounds string) {
	_, _ = fmt.Fprintf(w, "%s:\t%s\t%s\t%s\n", key, typeOf(s), initial, explained(meaning, bounds))
}

// explained puts bounds behind a meaning; either may be empty.
func explained(meaning, bounds string) string {
	if meaning == "" || bounds == "" {
		return meaning + bounds
	}
	return meaning + " (" + bounds + ")"
}

// boundsOf leaves out those of a map, which are of its names and stand at those.
func boundsOf(f *kind.Field) string {
	if f.Form == kind.Map {
		return ""
	}
	return f.Bounds()
}

func initial(f *kind.Field) string {
	switch value := absence(f); {
	case value != "":
		return value
	case f.Else != "":
		return "the " + f.Else
	case f.Required():
		return "(required)"
	}
	return "(none)"
}

func typeOf(s *kind.Shape) string {
	switch s.Form {
	case kind.Bool:
		return "true or false"
	case kind.Number:
		return "number"
	case kind.Duration:
		return "duration"
	case kind.Secret:
		return "secret"
	case kind.Struct, kind.Mapping, kind.Map, kind.Tree:
		return "mapping"
	case kind.List:
		if s.Elem.Form != kind.Struct && s.Elem.Form != kind.Tree {
			return "list of " + typeOf(s.Elem)
		}
		return "list"
	case kind.Text:
	}
	if s.Rule.Words != nil {
		return "word"
	}
	return "text"
}
