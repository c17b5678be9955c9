package decode

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
)

// structure decodes a mapping with known keys.
func (v value) structure(s *kind.Shape, to reflect.Value) {
	members, ok := v.members(s)
	if !ok {
		return
	}
	// What is there comes first: of a record only the first problem is told.
	for _, absent := range []bool{false, true} {
		for i := range s.Fields {
			f := &s.Fields[i]
			member, there := members[f.Key]
			if there != absent && (there || v.complete(f, &member)) {
				v.field(f, member, to.Field(f.Index), absent)
			}
		}
	}
	if v.Record {
		return
	}
	for _, f := range s.Fields {
		if own := to.Field(f.Index); f.Else != "" && own.IsZero() {
			own.Set(fieldOf(s, f.Else, to))
		}
	}
}

func (v value) field(f *kind.Field, member value, to reflect.Value, strict bool) {
	member.scope = v.scope
	if f.Form == kind.Struct {
		member.scope += "." + f.Key
	}
	member.decode(f.Shape, to, strict || !f.Optional && f.Else == "")
}

func fieldOf(s *kind.Shape, key string, of reflect.Value) reflect.Value {
	for _, f := range s.Fields {
		if f.Key == key {
			return of.Field(f.Index)
		}
	}
	panic("declaration of " + s.Type.String() + ": no field " + key)
}

// members returns what stands below the known keys, by the keys of the file. In a
// file other keys are reported, with the nearest of those known; in a record they
// are a later release's.
func (v value) members(s *kind.Shape) (map[string]value, bool) {
	entries, ok := v.entries(s.Want, memberPath)
	known, keys := make(map[string]string, len(s.Fields)), make([]string, 0, len(s.Fields))
	for _, f := range s.Fields {
		name := f.Key
		if v.Record {
			name = f.Record
		}
		if name != "" {
			known[name] = f.Key
		}
		keys = append(keys, f.Key)
	}
	members := make(map[string]value, len(entries))
	for _, e := range entries {
		key, mine := known[e.key.node.Value]
		switch {
		case mine:
			members[key] = e.value
		case v.Record:
			v.Unknown = true
		default:
			e.key.report("unknown key", suggestion(e.key.node.Value, keys))
		}
	}
	return members, ok
}

// complete puts at an absent member what absence means, and tells whether it is to
// be decoded.
func (v value) complete(f *kind.Field, member *value) bool {
	path, means := f.Key, f.Default
	if v.Record {
		path, means = f.Record, f.Absent
	}
	*member = value{Decoder: v.Decoder, path: strings.TrimPrefix(v.path+"."+path, "."), scope: v.scope, hidden: v.hidden}
	switch {
	case f.Optional, f.Else != "", f.Record == "" && v.Record:
		return false
	case f.Required() && !v.Record:
		member.Found.Add(Problem{Line: v.node.Line, Path: member.path, Value: "missing", Want: f.Want})
		return false
	}
	member.node = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: means, Line: v.node.Line}
	switch f.Form {
	case kind.List, kind.Mapping:
		member.node.Kind = yaml.SequenceNode
	case kind.Struct, kind.Map:
		member.node.Kind = yaml.MappingNode
	case kind.Bool:
		member.node.Tag = "!!bool"
	case kind.Text, kind.Secret, kind.Number, kind.Duration:
	}
	return true
}
