package wsrecord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/decode"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
	"github.com/anabranch/anabranch/schemas"
)

// Encode returns the records that make changes towards next, one for each. What the
// table's records say that this release does not understand stays in them.
func (t *Table) Encode(changes []workspace.Change, next *workspace.Snapshot) ([]*kgo.Record, error) {
	records := make([]*kgo.Record, len(changes))
	entries := make(map[string]map[string]reflect.Value) // by kind: of thousands, once
	for i, change := range changes {
		of := change.Kind
		if entries[of] == nil {
			entries[of] = next.Entries(of)
		}
		text, err := t.encode(entries[of], of, change.ID)
		if err != nil {
			return nil, fmt.Errorf("encode %s %s: %w", change.Kind, change.ID, err)
		}
		records[i] = &kgo.Record{Key: []byte(recordKey(change.Kind, change.ID)), Value: text}
	}
	return records, nil
}

// encode returns the value of one record, nil when the entries of its kind lack what it is about.
func (t *Table) encode(entries map[string]reflect.Value, of, id string) ([]byte, error) {
	entry, ok := entries[id]
	if t.shapes[of].Form == kind.Tree {
		return t.next(of, id, entry)
	}
	if !ok {
		return nil, nil
	}
	text, err := Write(t.shapes[of], entry)
	if before := t.entries[of][id].unknown; err == nil && before != nil {
		return keep(t.shapes[of], before, text)
	}
	return text, err
}

// next returns the record behind the present one: of the next version, or of what is kept
// of an entry that is deleted.
func (t *Table) next(of, id string, entry reflect.Value) ([]byte, error) {
	before, known := t.entries[of][id]
	switch {
	case !entry.IsValid() && !known:
		return nil, nil
	case !entry.IsValid():
		own := kind.Owner(reflect.ValueOf(before.value.Interface())) // a copy
		own.Follow(kind.Owner(before.value))
		own.Delete()
		return own.Record()
	}
	own := kind.Owner(entry)
	if known {
		own.Follow(kind.Owner(before.value))
	} else {
		own.Follow(nil)
	}
	return own.Record()
}

// Write returns the record of a value of the shape s.
func Write(s *kind.Shape, v reflect.Value) ([]byte, error) {
	var w writer
	err := w.value(s, v)
	if w.sealed && err == nil {
		return fmt.Appendf(nil, `{"version":%d,%s`, sealedVersion, w.Bytes()[1:]), nil
	}
	return w.Bytes(), err
}

type writer struct {
	bytes.Buffer
	sealed bool // it holds a secret that is
}

func (w *writer) value(s *kind.Shape, v reflect.Value) error {
	v = reflect.Indirect(v)
	switch s.Form {
	case kind.Tree:
		record, err := kind.Owner(v).Record()
		w.Write(record)
		return err
	case kind.Struct:
		return w.structure(s, v)
	case kind.List, kind.Mapping:
		return w.sequence("[]", v.Len(), func(i int) error { return w.value(s.Elem, v.Index(i)) })
	case kind.Map:
		members := mapOf(v)
		names := slices.Sorted(maps.Keys(members))
		return w.sequence("{}", len(names), func(i int) error { return w.member(names[i], s.Elem, members[names[i]]) })
	case kind.Bool:
		w.WriteString(strconv.FormatBool(v.Bool()))
		return nil
	case kind.Number:
		w.WriteString(strconv.FormatInt(v.Int(), 10))
		return nil
	case kind.Text, kind.Duration, kind.Secret:
	}
	if secret, ok := reflect.TypeAssert[schemas.Secret](v); ok {
		if form, sealed := secret.Sealed(); sealed {
			w.sealed = true
			return writeJSON(&w.Buffer, map[string]string{decode.Sealed: form})
		}
	}
	text, err := s.Get(v)
	if err != nil {
		return err
	}
	return w.text(text)
}

func mapOf(v reflect.Value) map[string]reflect.Value {
	members := make(map[string]reflect.Value, v.Len())
	for key, member := range v.Seq2() {
		members[key.String()] = member
	}
	return members
}

func (w *writer) structure(s *kind.Shape, v reflect.Value) error {
	present := slices.DeleteFunc(slices.Clone(s.Fields), func(f kind.Field) bool {
		return f.Record == "" || !s.Has(&f, v) || f.Optional && empty(f.Shape, v.Field(f.Index))
	})
	return w.sequence("{}", len(present), func(i int) error {
		return w.member(present[i].Record, present[i].Shape, v.Field(present[i].Index))
	})
}

// empty tells whether a value is the same as an absent one.
func empty(s *kind.Shape, v reflect.Value) bool {
	switch s.Form {
	case kind.List, kind.Mapping:
		return v.Len() == 0
	case kind.Map:
		return v.IsNil() || v.Len() == 0 && !s.EmptyIsThere
	default:
		return v.IsZero()
	}
}

func (w *writer) sequence(around string, n int, write func(i int) error) error {
	w.WriteByte(around[0])
	for i := range n {
		if i > 0 {
			w.WriteByte(',')
		}
		if err := write(i); err != nil {
			return err
		}
	}
	w.WriteByte(around[1])
	return nil
}

func (w *writer) member(name string, s *kind.Shape, v reflect.Value) error {
	if err := w.text(name); err != nil {
		return err
	}
	w.WriteByte(':')
	return w.value(s, v)
}

func (w *writer) text(text string) error { return writeJSON(&w.Buffer, text) }

// writeJSON leaves <, > and & as they are: escaped for HTML, as json.Marshal
// does it, each of them takes six bytes of a record's limit.
func writeJSON(b *bytes.Buffer, v any) error {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // its line end
	return nil
}
