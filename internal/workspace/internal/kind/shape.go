package kind

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
)

// Form is the kind of value that stands at a place.
type Form byte

// The forms. Those up to Secret are written as text.
const (
	Text Form = iota
	Bool
	Number
	Duration
	Secret  // text that is not shown; a file may refer to it
	Struct  // a mapping with known keys
	List    // of values of one shape
	Mapping // a list of structs which a file writes as a mapping
	Map     // a mapping whose keys people choose
)

// Shape is what may stand at one place of a workspace.
type Shape struct {
	Form Form
	Type reflect.Type // of the Go value, of what it points to
	Want string       // what is expected where something of another form stands
	Rule rules.Rule   // Text, Secret: without Check any text will do. Map: of its keys

	Fields []Field // Struct
	Elem   *Shape  // List, Mapping, Map

	Key          string // of the field in the file; empty for elements
	Least, Most  int    // length of a List or Mapping; Most 0 is no bound
	Min, Max     int64  // of a Number, or of a Duration in nanoseconds; both 0: no bounds
	Ref          string // Text: the section of which it has to be an id
	Unique       string // Text, Secret: what has to be its own among siblings; see the tag
	Fold         bool   // Unique: in any case
	Not          bool   // Bool: the file says the opposite
	EmptyIsThere bool   // Map: an empty one is not the same as none
}

// Field is one member of a Struct.
type Field struct {
	*Shape
	Index    int    // of the Go field
	Record   string // the member of a record; empty: it is not in records
	Kind     string // of a section: the kind of its records
	Desc     string
	Optional bool   // where it is absent it has its zero value
	Default  string // what absence means
	Absent   string // what absence means in a record
	Else     string // the key of the field that gives the value where the file has none
}

// Required tells whether a file has to have the field.
func (f *Field) Required() bool { return !f.Optional && f.Default == "" && f.Else == "" }

// Hash is a type that keeps the hash of a secret. Its record is its text
// (encoding.TextMarshaler).
type Hash interface{ HashSecret(secret string) }

// Judge is a type with a rule of its own, which looks at the value as a whole.
type Judge interface {
	// Objection returns what was expected instead; "" without an objection.
	Objection() string
}

// CheckLength returns what was expected instead of n elements.
func (s *Shape) CheckLength(n int) string {
	if n < s.Least || s.Most > 0 && n > s.Most {
		return s.lengths()
	}
	return ""
}

func (s *Shape) lengths() string {
	if s.Least == 0 {
		return fmt.Sprintf("at most %d %s", s.Most, s.Key)
	}
	return fmt.Sprintf("%d to %d %s", s.Least, s.Most, s.Key)
}

// Bounds says in a few words what is allowed; empty when anything of the form is.
func (s *Shape) Bounds() string {
	switch s.Form {
	case Text, Secret, Map:
		switch {
		case s.Ref != "":
			return "the id of one of the " + s.Ref
		case s.Rule.Check != nil:
			return s.Rule.Check("")
		}
	case List, Mapping:
		if s.Most > 0 {
			return s.lengths()
		}
		return s.Elem.Bounds()
	case Number, Duration:
		if s.Min != 0 || s.Max != 0 {
			return s.format(s.Min) + " to " + s.format(s.Max)
		}
	case Bool, Struct:
	}
	return ""
}

// Differences returns the keys of the fields in which two values differ, in the
// order of the declaration. It shows none of what they hold.
func (s *Shape) Differences(before, after reflect.Value) []string {
	var keys []string
	for _, f := range s.Fields {
		if !reflect.DeepEqual(before.Field(f.Index).Interface(), after.Field(f.Index).Interface()) {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// Field returns the place among the fields of the one that a key of a file, or a member
// of a record, belongs to; -1 without one.
func (s *Shape) Field(name string, record bool) int {
	return slices.IndexFunc(s.Fields, func(f Field) bool {
		if record {
			return f.Record == name && name != ""
		}
		return f.Key == name
	})
}

// Keys returns the keys of the fields in a file.
func (s *Shape) Keys() []string {
	keys := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		keys[i] = f.Key
	}
	return keys
}

// keyList is "the key a" or "the keys a, b and c".
func keyList(keys []string) string {
	last := len(keys) - 1
	if last < 1 {
		return "the key " + strings.Join(keys, "")
	}
	return "the keys " + strings.Join(keys[:last], ", ") + " and " + keys[last]
}
