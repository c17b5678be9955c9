package wsrecord

import (
	"bytes"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
)

// keep returns a record with the members that an earlier one of the same key has
// and this release does not know. A later release wrote them, and goes by them.
func keep(s *kind.Shape, before any, record []byte) ([]byte, error) {
	parsed, err := document.ParseJSON(record)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = writeJSON(&b, merged(s, before, parsed))
	return b.Bytes(), err
}

// merged adds to next what only before says. Elements of lists are compared by what
// tells them apart, not by their place; what does not stay takes along what was
// known of it.
func merged(s *kind.Shape, before, next any) any {
	if s.Form == kind.Secret {
		return next // a sealed one is an object, whose members belong together
	}
	switch was := before.(type) {
	case map[string]any:
		if is, ok := next.(map[string]any); ok {
			mergeMembers(s, was, is)
		}
	case []any:
		is, ok := next.([]any)
		if !ok || s.Elem == nil {
			break
		}
		byKey := make(map[string]any, len(was))
		for _, element := range was {
			byKey[identity(s.Elem, element)] = element
		}
		for i, element := range is {
			if id := identity(s.Elem, element); id != "" {
				is[i] = merged(s.Elem, byKey[id], element)
			}
		}
	}
	return next
}

func mergeMembers(s *kind.Shape, was, is map[string]any) {
	if s.Form == kind.Map {
		for name := range is {
			is[name] = merged(s.Elem, was[name], is[name])
		}
		return
	}
	known := make(map[string]*kind.Shape, len(s.Fields))
	for _, f := range s.Fields {
		known[f.Record] = f.Shape
	}
	for name, value := range was {
		if shape, ok := known[name]; !ok {
			is[name] = value
		} else if is[name] != nil {
			is[name] = merged(shape, value, is[name])
		}
	}
}

// identity returns what tells an element from its siblings, empty without that.
func identity(s *kind.Shape, element any) string {
	members, _ := element.(map[string]any)
	for _, f := range s.Fields {
		if text, ok := members[f.Record].(string); ok && f.Unique != "" {
			return text
		}
	}
	return ""
}
