package wsrecord

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/anabranch/anabranch/schemas"
)

// ErrKind says that a record is of a kind that this release does not know. Nothing
// is wrong with it: a later release reads it.
var ErrKind = errors.New("a kind of record that this release does not know")

// ErrType says that a destination is of a type that this release does not know.
var ErrType = errors.New("of a type that this release does not know")

// Later reports whether a record could not be read since a later release wrote it.
func Later(err error) bool {
	return errors.Is(err, ErrKind) || errors.Is(err, ErrType) || schemas.IsLaterVersion(err)
}

// sealedVersion is the version of a record that holds a sealed secret, and the latest
// that this release understands. Releases before know no such thing, and keep what was
// in force.
const sealedVersion = 2

// noteVersion remembers the keys of which the topic holds a record of a later
// version, or of a type that one knows.
func (t *Table) noteVersion(key string, err error) {
	if Later(err) && !errors.Is(err, ErrKind) {
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
