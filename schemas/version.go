package schemas

import (
	"errors"
	"fmt"
)

// VersionError says that a record is of a version that this release does not
// understand. Nothing is wrong with the record: a later release reads it.
type VersionError struct{ Version int }

// Error says which version it is, and which one would be understood.
func (e *VersionError) Error() string {
	return fmt.Sprintf("record of version %d: this release understands versions up to %d", e.Version, RecordVersion)
}

// IsLaterVersion reports whether a record could not be read since a later release
// wrote it.
func IsLaterVersion(err error) bool {
	_, later := errors.AsType[*VersionError](err)
	return later
}
