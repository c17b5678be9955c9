package decode

import (
	"errors"
	"os"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
	"github.com/anabranch/anabranch/schemas"
)

// References is where a file's references to secrets lead.
type References struct {
	Env  func(name string) (value string, set bool)
	File func(path string) (content string, err error)
	// Refused is what is expected in the place of a reference; empty: they are followed.
	Refused string
}

// Sealed is the member under which a record has the encrypted form of a secret, in place
// of its text: {"sealed":"…"}.
const Sealed = "sealed"

// sealed returns the encrypted form of a secret in a record. What is in it only whoever
// has the key can judge.
func (v value) sealed(s *kind.Shape) (form string, ok bool) {
	if !v.Record || s.Type != reflect.TypeFor[schemas.Secret]() || v.node.Kind != yaml.MappingNode || len(v.node.Content) != 2 {
		return "", false
	}
	key, text := v.node.Content[0], v.node.Content[1]
	return text.Value, key.Value == Sealed && text.Tag == "!!str"
}

// reveal returns the text at the place: a literal, or what a file's reference leads to.
func (v value) reveal(s *kind.Shape) (string, bool) {
	if s.Form == kind.Number && v.Record {
		return v.node.Value, v.ofKind("text", s.Want)
	}
	if s.Form != kind.Secret || v.Record || document.KindOf(v.node) != "a mapping" {
		v.hidden = v.hidden || s.Form == kind.Secret
		return v.text(s.Want)
	}
	entries, _ := v.entries(s.Want, document.MemberPath)
	if len(entries) != 1 {
		v.expected(s.Want)
		return "", false
	}
	e := entries[0]
	e.value.hidden = false // the name of a variable or file, which people need to see
	switch from := e.key.node.Value; {
	case from != "env" && from != "file":
		v.expected(s.Want)
		return "", false
	case v.Lookup.Refused != "":
		e.value.expected(v.Lookup.Refused)
		return "", false
	case from == "env":
		return e.value.fromEnv()
	default:
		return e.value.fromFile()
	}
}

func (v value) fromEnv() (string, bool) {
	name, ok := v.text("the name of an environment variable")
	if !ok {
		return "", false
	}
	text, set := v.Lookup.Env(name)
	if !set || text == "" {
		v.expected("an environment variable that is set and not empty")
		return "", false
	}
	return text, true
}

func (v value) fromFile() (string, bool) {
	path, ok := v.text("the path of a file")
	if !ok {
		return "", false
	}
	text, err := v.Lookup.File(path)
	if err != nil {
		v.expected("a readable file (" + cause(err).Error() + ")")
		return "", false
	}
	if text == "" {
		v.expected("a file that is not empty")
		return "", false
	}
	return text, true
}

// cause leaves the operation and the path out, which the problem names already.
func cause(err error) error {
	if pathError, ok := errors.AsType[*os.PathError](err); ok {
		return pathError.Err
	}
	return err
}
