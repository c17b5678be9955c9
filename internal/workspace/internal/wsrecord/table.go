package wsrecord

import (
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
)

// Table is the latest readable record per key: the state of the topic up to
// some offset.
type Table struct {
	Applied bool // people have applied a workspace, whatever is left of it

	sources      map[string]workspace.Source
	destinations map[string]workspace.Destination
}

// NewTable returns the state of an empty topic.
func NewTable() *Table {
	return &Table{sources: make(map[string]workspace.Source), destinations: make(map[string]workspace.Destination)}
}

// Apply takes in one record. A record that can't be read is an error and
// changes nothing: the last good one of its key stays in force.
func (t *Table) Apply(r *kgo.Record) error {
	if err := t.set(string(r.Key), r.Value); err != nil {
		return fmt.Errorf("decode %s[%d]@%d: %w", r.Topic, r.Partition, r.Offset, err)
	}
	return nil
}

func (t *Table) set(key string, text []byte) error {
	if key == keyApplied {
		t.Applied = true
		return nil
	}
	kind, id, ok := splitKey(key)
	switch {
	case !ok:
		return fmt.Errorf("key %.80q: expected source/<id>, destination/<id> or %s", key, keyApplied)
	case kind == workspace.KindSource:
		return setOrDelete(t.sources, id, text, decodeSource)
	default:
		return setOrDelete(t.destinations, id, text, decodeDestination)
	}
}

func setOrDelete[T any](m map[string]T, id string, text []byte, decode func(string, []byte) (T, error)) error {
	if text == nil {
		delete(m, id)
		return nil
	}
	decoded, err := decode(id, text)
	if err != nil {
		return fmt.Errorf("%q: %w", id, err)
	}
	m[id] = decoded
	return nil
}

// Snapshot returns the workspace that the records say.
func (t *Table) Snapshot() *workspace.Snapshot {
	return workspace.NewSnapshot(slices.Collect(maps.Values(t.sources)), slices.Collect(maps.Values(t.destinations)))
}
