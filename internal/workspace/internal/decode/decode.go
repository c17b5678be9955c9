package decode

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
	"github.com/anabranch/anabranch/schemas"
)

// Decoder reads one document. Its zero value reads a file that refers to no secrets.
type Decoder struct {
	Record  bool              // it is a record of the topic
	Lookup  References        // of a file
	Found   document.Problems // what is wrong
	Unknown bool              // a record has members that this release does not know

	claims map[string]claims
}

// Decode reads a tree into the value that to points to, which has the shape s. What
// is wrong is in d.Found.
func (d *Decoder) Decode(s *kind.Shape, root *yaml.Node, to any) {
	d.claims = make(map[string]claims)
	value{Decoder: d, node: root}.decode(s, reflect.ValueOf(to).Elem(), true)
	if checker, ok := to.(kind.Checker); ok && !d.Record {
		checker.Check(func(path, shown, want string) {
			d.Found.Add(document.Problem{Line: document.Line(root, path), Path: path, Value: shown, Want: want})
		})
	}
}

// decode reads what stands at a place. strict: an empty text is held to its rule in
// a record too. It returns false when it reported something about the value as a whole.
func (v value) decode(s *kind.Shape, to reflect.Value, strict bool) bool {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(s.Type))
		to = to.Elem()
	}
	before := len(v.Found)
	switch s.Form {
	case kind.Struct:
		v.structure(s, to)
	case kind.List:
		v.list(s, to)
	case kind.Mapping:
		v.mapping(s, to)
	case kind.Map:
		v.named(s, to)
	case kind.Tree:
		v.Found = append(v.Found, kind.Owner(to).ReadFile(v.node, v.path)...)
	case kind.Bool:
		return v.boolean(s, to)
	default:
		return v.scalar(s, to, strict)
	}
	// What is read of a value with problems is not all that it says.
	if judge, ok := reflect.TypeAssert[kind.Judge](to.Addr()); ok && len(v.Found) == before {
		if objection := judge.Objection(); objection != "" {
			v.expected(objection)
		}
	}
	return true
}

func (v value) list(s *kind.Shape, to reflect.Value) {
	items, ok := v.items()
	if !ok {
		return
	}
	if len(items) > 0 || s.Elem.Form == kind.Tree { // of which none is not the same as no list
		to.Set(reflect.MakeSlice(to.Type(), len(items), len(items)))
	}
	for i, item := range items {
		item.decode(s.Elem, to.Index(i), true)
	}
	if objection := s.CheckLength(len(items)); objection != "" {
		v.report(fmt.Sprintf("%d %s", len(items), s.Key), objection)
	}
}

// mapping decodes a list that a file writes as a mapping.
func (v value) mapping(s *kind.Shape, to reflect.Value) {
	if v.Record {
		v.list(s, to)
		return
	}
	entries, _ := v.entries(s.Want, document.MemberPath)
	first, second := s.Elem.Fields[0], s.Elem.Fields[1]
	for _, e := range entries {
		pair := reflect.New(s.Elem.Type).Elem()
		if e.key.decode(first.Shape, pair.Field(first.Index), true) {
			e.value.decode(second.Shape, pair.Field(second.Index), true)
			to.Set(reflect.Append(to, pair))
		}
	}
	if objection := s.CheckLength(to.Len()); objection != "" {
		v.expected(objection)
	}
}

// named decodes a mapping whose keys are names that people gave.
func (v value) named(s *kind.Shape, to reflect.Value) {
	entries, ok := v.entries(s.Want, document.NamePath)
	if ok && (len(entries) > 0 || s.EmptyIsThere) {
		to.Set(reflect.MakeMapWithSize(to.Type(), len(entries)))
	}
	for _, e := range entries {
		name := e.key.node.Value
		e.key.hidden = false
		if objection := objectionOf(s, name); objection != "" {
			e.key.expected(objection)
			continue
		}
		elem := reflect.New(to.Type().Elem()).Elem()
		e.value.decode(s.Elem, elem, true)
		to.SetMapIndex(reflect.ValueOf(name).Convert(to.Type().Key()), elem)
	}
}

func (v value) boolean(s *kind.Shape, to reflect.Value) bool {
	if !v.ofKind("text", s.Want) {
		return false
	}
	if v.node.Tag != "!!bool" {
		v.expected(s.Want)
		return false
	}
	to.SetBool(strings.EqualFold(v.node.Value, "true") != (s.Not && !v.Record))
	return true
}

// objectionOf is the rule's.
func objectionOf(s *kind.Shape, text string) string {
	if s.Rule.Check == nil {
		return ""
	}
	return s.Rule.Check(text)
}

func (v value) scalar(s *kind.Shape, to reflect.Value, strict bool) bool {
	if form, ok := v.sealed(s); ok {
		to.SetString(string(schemas.SealedSecret(form)))
		return true
	}
	text, ok := v.reveal(s)
	if !ok {
		return false
	}
	hash, hashed := reflect.TypeAssert[kind.Hash](to.Addr())
	free := v.Record && (hashed || !strict && text == "")
	if objection := objectionOf(s, text); objection != "" && !free {
		v.refuse(s, text, objection)
		return false
	}
	if hashed && !v.Record {
		hash.HashSecret(text)
	} else if objection := s.Set(to, text); objection != "" {
		v.expected(objection)
		return false
	}
	v.compare(s, text)
	return true
}

func (v value) refuse(s *kind.Shape, text, objection string) {
	if s.Rule.Show != nil {
		v.report(s.Rule.Show(text), objection)
		return
	}
	v.hidden = v.hidden || s.Form == kind.Secret
	v.expected(objection)
}

// compare holds a text of a file against its siblings, and against what it names.
func (v value) compare(s *kind.Shape, text string) {
	if v.Record {
		return
	}
	if s.Ref != "" && v.claims[s.Ref+".id"][text] == 0 && text != s.Beside {
		v.expected(s.WantRef())
		return
	}
	if s.Unique == "" {
		return
	}
	if s.Fold {
		text = strings.ToLower(text)
	}
	v.hidden = v.hidden || s.Form == kind.Secret || s.Rule.Show != nil
	v.claim(s.Key, text, s.Unique)
}
