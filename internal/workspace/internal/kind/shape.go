package kind

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/document"
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
	Tree    // whatever its type reads: see [Own]
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
	Beside       string // Ref: an id that is built in, and good too
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
	Only     Only   // where it may be; zero: everywhere
}

// Only restricts a field to those structs in which another one, which comes before it and
// is one of a few words, has one of them.
type Only struct{ Key, Word string }

// String is empty or says it: "; goes with type: topic".
func (o Only) String() string {
	if o.Key == "" {
		return ""
	}
	return "; goes with " + o.Key + ": " + o.Word
}

// Decides returns the field whose word decides which others may be there; nil without one.
// A struct has one at most.
func (s *Shape) Decides() *Field {
	for i := range s.Fields {
		if key := s.Fields[i].Only.Key; key != "" {
			return &s.Fields[s.Field(key, false)]
		}
	}
	return nil
}

// Has tells whether a struct may have one of the fields, by the word that it holds.
func (s *Shape) Has(f *Field, v reflect.Value) bool {
	return f.Only.Key == "" || f.Only.With(v.Field(s.Decides().Index).String(), s.Decides().Default)
}

// With tells whether the field goes with a word; an empty one is the usual.
func (o Only) With(word, usual string) bool { return o.Key == "" || cmp.Or(word, usual) == o.Word }

// Entry returns the shape of what a section holds: the elements of a list, or else the
// section itself.
func (f *Field) Entry() *Shape {
	if f.Form == List {
		return f.Elem
	}
	return f.Shape
}

// Required tells whether a file has to have the field.
func (f *Field) Required() bool { return !f.Optional && f.Default == "" && f.Else == "" }

// Hash is a type that keeps the hash of a secret. Its record is its text
// (encoding.TextMarshaler).
type Hash interface{ HashSecret(secret string) }

// Own is a type that reads and describes itself, where tags can't say what its values look
// like: a tree, for example, contains itself. It is an entry of a section, and what is
// kept of it once it is deleted keeps its id from being used again.
type Own interface {
	// ReadFile reads what stands at a place of a file.
	ReadFile(node *yaml.Node, path string) document.Problems
	// ReadRecord reads what Record returned. The error shows nothing of it.
	ReadRecord(record []byte) error
	Record() ([]byte, error)
	// Differs returns the keys in which it differs from a value of its type before.
	Differs(before Own) []string
	// Follow makes it what comes behind a value of its type, or behind none.
	Follow(before Own)
	// Written notes when its record was written.
	Written(at time.Time)
	// Delete makes it what is kept of it.
	Delete()
	// ValidID tells whether an entry may have an id.
	ValidID(id string) bool
	// Describe returns its schema, and a row for each of its keys.
	Describe() (schema map[string]any, rows []definition.Row)
}

// Owner returns a value of the form Tree as an [Own]: a copy, if it is not addressable.
func Owner(v reflect.Value) Own {
	if !v.CanAddr() {
		to := reflect.New(v.Type())
		to.Elem().Set(v)
		v = to.Elem()
	}
	own, _ := reflect.TypeAssert[Own](v.Addr())
	return own
}

// Checker is a document with rules across its sections.
type Checker interface {
	// Check reports what breaks them. path leads to where it stands.
	Check(report func(path, value, want string))
}

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

// WantRef says what a text is expected to name.
func (s *Shape) WantRef() string {
	want := "the id of one of the " + s.Ref
	if s.Beside != "" {
		want += ", or " + s.Beside
	}
	return want
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
			return s.WantRef()
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
	case Bool, Struct, Tree:
	}
	return ""
}

// Differences returns the keys of the fields in which two values differ, in the
// order of the declaration. It shows none of what they hold.
func (s *Shape) Differences(before, after reflect.Value) []string {
	if s.Form == Tree {
		return Owner(after).Differs(Owner(before))
	}
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

// required returns the keys of the fields that a file has to have.
func (s *Shape) required() []string {
	var keys []string
	for _, f := range s.Fields {
		if f.Required() {
			keys = append(keys, f.Key)
		}
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
