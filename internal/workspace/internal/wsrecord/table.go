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
	later        map[string]bool // keys of records of a later version
}

// NewTable returns the state of an empty topic.
func NewTable() *Table {
	return &Table{sources: make(map[string]workspace.Source), destinations: make(map[string]workspace.Destination), later: make(map[string]bool)}
}

// Apply takes in one record. A record that can't be read is an error and
// changes nothing: the last good one of its key stays in force. So it is with one
// of a later version ([schemas.VersionError]) or kind ([ErrKind]): to go on
// delivering as before is safer than to stop, or to deliver by half of what a
// record says. While an upgrade rolls, the new processes obey the new record.
func (t *Table) Apply(r *kgo.Record) error {
	err := t.set(string(r.Key), r.Value)
	t.noteVersion(string(r.Key), err)
	if err != nil {
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
	case !ok && wellFormed(kind, id):
		return fmt.Errorf("key %.80q: %w", key, ErrKind)
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
	err := checkVersion(text)
	var decoded T
	if err == nil {
		decoded, err = decode(id, text)
	}
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
