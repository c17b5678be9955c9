package schemas

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
)

// VersionError says that a record is of a version that this release does not
// understand. Nothing is wrong with the record: a later release reads it.
type VersionError struct {
	Version    int
	Understood int // the latest that is; zero: RecordVersion
}

// Error says which version it is, and which one would be understood.
func (e *VersionError) Error() string {
	return fmt.Sprintf("record of version %d: this release understands versions up to %d", e.Version, cmp.Or(e.Understood, RecordVersion))
}

// IsLaterVersion reports whether a record could not be read since a later release
// wrote it.
func IsLaterVersion(err error) bool {
	_, later := errors.AsType[*VersionError](err)
	return later
}

// CheckVersion refuses a JSON record of a later version ({"version":2,…}) before
// anything in it is judged by the rules of this release. The error is a [*VersionError].
func CheckVersion(record []byte) error { return CheckVersionOf(record, JSONVersion) }

// JSONVersion is the latest version of JSON records that this release understands, of
// those kinds that have no count of their own.
const JSONVersion = 1

// CheckVersionOf is CheckVersion for a kind of record with a count of its own.
func CheckVersionOf(record []byte, understood int) error {
	var r struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(record, &r) == nil && r.Version > understood {
		return &VersionError{Version: r.Version, Understood: understood}
	}
	return nil
}
