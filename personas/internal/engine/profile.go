package engine

import (
	"errors"
	"time"
)

// Profile is one user's state, decoded. It is not for concurrent use.
type Profile struct {
	// Redirect is the user that this one was merged into; empty: none. The state is then
	// that user's.
	Redirect string
	// Links are the ids that were merged into this user, or belong to them.
	Links []Link
	// Deletion is the last deletion of the user; its zero value: none.
	Deletion Deletion
}

// Link is an id that belongs to a user.
type Link struct {
	ID string
	At time.Time // since when; whole milliseconds
}

// Deletion marks that a user was deleted: calls before Offset are not theirs any more.
type Deletion struct {
	Offset  int64  // of the request on raw-events
	Request string // id of the request; empty: never deleted
}

// Told is what was told last of a definition.
type Told struct {
	Member bool      // of an audience
	At     time.Time // of the change
}

// ErrRecord is wrapped by the error of a record that is no profile.
var ErrRecord = errors.New("not the record of a profile")

// NewProfile returns that of a user of whom nothing is known.
func (c *Catalogue) NewProfile() *Profile { return &Profile{} }

// Decode reads what [Profile.Append] wrote. The profile holds on to record, which must not
// change afterwards. Any bytes are safe; the error wraps ErrRecord.
func (c *Catalogue) Decode(record []byte) (*Profile, error) { return &Profile{}, nil }

// Append appends the profile as it is stored: at most MaxRecordBytes, for which the sets
// of a profile that would be longer lose their oldest values. State that no definition of
// c needs is left out. Two profiles of equal state have equal bytes.
func (c *Catalogue) Append(dst []byte, p *Profile) []byte { return dst }

// Append is [Catalogue.Append] of the catalogue that the profile was last used with.
func (p *Profile) Append(dst []byte) []byte { return dst }

// Clone returns a copy that can be changed, and dropped, without p: it shares with p what
// neither of both changes. It costs little.
func (p *Profile) Clone() *Profile { return p }

// Due returns when the truth flips next by itself, or may; zero: never.
func (p *Profile) Due() time.Time { return time.Time{} }

// Dirty reports whether p differs from when it was decoded, made, or last Clean.
func (p *Profile) Dirty() bool { return false }

// Clean says that p is stored as it is.
func (p *Profile) Clean() {}

// Empty reports whether no call was ever folded.
func (p *Profile) Empty() bool { return true }

// Seen returns the earliest and the latest At of the user's calls; zero: none.
func (p *Profile) Seen() (first, last time.Time) { return time.Time{}, time.Time{} }

// Sources returns the ids of the sources that have seen the user, ascending.
func (p *Profile) Sources() []string { return nil }

// Link adds an id to Links, or makes its time an earlier one; false: it was there.
func (p *Profile) Link(id string, at time.Time) bool { return false }

// Told returns what was told of a definition last; false: nothing.
func (p *Profile) Told(class Class, key string) (Told, bool) { return Told{}, false }

// Forget forgets all of the user but the marks of the deletion and the count of changes,
// which later ones must not repeat.
func (p *Profile) Forget(d Deletion) {}
