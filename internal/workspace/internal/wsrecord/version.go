package wsrecord

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/anabranch/anabranch/schemas"
)

// ErrKind says that a record is of a kind that this release does not know. Nothing
// is wrong with it: a later release reads it.
var ErrKind = errors.New("a kind of record that this release does not know")

// checkVersion refuses a value of a later version ({"version":2,…}) before anything
// in it is judged by the rules of this one.
func checkVersion(record any) error {
	members, _ := record.(map[string]any)
	number, _ := members["version"].(json.Number)
	if version, err := strconv.Atoi(number.String()); err == nil && version > schemas.RecordVersion {
		return &schemas.VersionError{Version: version}
	}
	return nil
}

// noteVersion remembers the keys of which the topic holds a record of a later
// version.
func (t *Table) noteVersion(key string, err error) {
	if schemas.IsLaterVersion(err) {
		t.later[key] = true
	} else if err == nil {
		delete(t.later, key)
	}
}

// CheckWritable returns an error while the topic holds records of a later version:
// what an earlier release writes over them would lose what it does not know.
func (t *Table) CheckWritable() error {
	if len(t.later) == 0 {
		return nil
	}
	return fmt.Errorf("a later release wrote %s (%d of such records): use that release to change the workspace", slices.Min(slices.Collect(maps.Keys(t.later))), len(t.later))
}
