package workspace

import (
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
)

// table is the latest readable record per key: the state of the topic up to
// some offset.
type table struct {
	sources      map[string]Source
	destinations map[string]Destination
	applied      bool
}

func newTable() *table {
	return &table{sources: make(map[string]Source), destinations: make(map[string]Destination)}
}

// apply takes in one record. A record that can't be read is an error and
// changes nothing: the last good one of its key stays in force.
func (t *table) apply(r *kgo.Record) error {
	if err := t.set(string(r.Key), r.Value); err != nil {
		return fmt.Errorf("decode %s[%d]@%d: %w", r.Topic, r.Partition, r.Offset, err)
	}
	return nil
}

func (t *table) set(key string, text []byte) error {
	if key == keyApplied {
		t.applied = true
		return nil
	}
	kind, id, ok := splitKey(key)
	switch {
	case !ok:
		return fmt.Errorf("key %.80q: expected source/<id>, destination/<id> or %s", key, keyApplied)
	case kind == kindSource:
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

func (t *table) snapshot() *Snapshot {
	return NewSnapshot(slices.Collect(maps.Values(t.sources)), slices.Collect(maps.Values(t.destinations)))
}
