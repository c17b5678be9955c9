package decode

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
)

// structure decodes a mapping with known keys.
func (v value) structure(s *kind.Shape, to reflect.Value) {
	members, ok := v.members(s)
	if !ok {
		return
	}
	has := v.has(s, members)
	// What is there comes first: of a record only the first problem is told.
	for _, absent := range []bool{false, true} {
		for i := range s.Fields {
			f, member := &s.Fields[i], members[i]
			there := member.node != nil
			if has[i] && there != absent && (there || v.complete(f, &member)) {
				v.field(f, member, to.Field(f.Index), absent)
			}
		}
	}
	for _, f := range s.Fields {
		if own := to.Field(f.Index); f.Else != "" && own.IsZero() && !v.Record {
			own.Set(to.Field(s.Fields[s.Field(f.Else, false)].Index))
		}
	}
}

// has tells of each field whether it may be here, which the word of another one decides.
// A file is told of one that is and may not; in a record it is left over from another type.
func (v value) has(s *kind.Shape, members []value) []bool {
	word, known := "", true
	owner := s.Decides()
	if owner != nil {
		word = owner.Default
		if node := members[s.Field(owner.Key, false)].node; node != nil {
			word = node.Value
		}
		known = slices.Contains(owner.Rule.Words, word) // what goes with others nobody knows
	}
	has := make([]bool, len(s.Fields))
	for i := range s.Fields {
		only, member := s.Fields[i].Only, members[i]
		has[i] = only.With(word, "")
		if !has[i] && known && member.node != nil && !v.Record {
			member.report("goes with "+only.Key+": "+only.Word, "no such key with "+only.Key+": "+word)
		}
	}
	return has
}

func (v value) field(f *kind.Field, member value, to reflect.Value, strict bool) {
	member.scope = v.scope
	if f.Form == kind.Struct {
		member.scope += "." + f.Key
	}
	member.decode(f.Shape, to, strict || !f.Optional && f.Else == "")
}

// members returns what stands at the known keys, in the order of the fields. In a
// file other keys are reported, with the nearest of those known; in a record they
// are a later release's.
func (v value) members(s *kind.Shape) ([]value, bool) {
	entries, ok := v.entries(s.Want, document.MemberPath)
	members := make([]value, len(s.Fields))
	for _, e := range entries {
		at := s.Field(e.key.node.Value, v.Record)
		switch {
		case at >= 0:
			members[at] = e.value
		case v.Record:
			v.Unknown = true
		default:
			e.key.report("unknown key", document.Suggestion(e.key.node.Value, s.Keys()))
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
		member.Found.Add(document.Problem{Line: v.node.Line, Path: member.path, Value: "missing", Want: f.Want})
		return false
	}
	member.node = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: means, Line: v.node.Line}
	switch f.Form {
	case kind.List, kind.Mapping:
		member.node.Kind = yaml.SequenceNode
	case kind.Struct, kind.Map, kind.Tree:
		member.node.Kind = yaml.MappingNode
	case kind.Bool:
		member.node.Tag = "!!bool"
	case kind.Text, kind.Secret, kind.Number, kind.Duration:
	}
	return true
}
