package engine

import "time"

// Bounds of a user's state.
const (
	MaxRecordBytes = 64 << 10 // of the profile in the store
	MaxValueBytes  = 4 << 10  // of one value that is kept, as JSON
)

// Catalogue is a workspace's definitions, compiled. It does not change and may be used
// by several goroutines; a [Profile] by one at a time.
type Catalogue struct{}

// Compile compiles definitions, which have passed validation. It fails where that would
// have: a reference to what is not there, a cycle, two definitions with one key.
func Compile(d Definitions) (*Catalogue, error) { return &Catalogue{}, nil }

// Leaves returns the leaves of all definitions that are computed: the enabled ones and
// those that they refer to. Ascending.
func (c *Catalogue) Leaves() []LeafID { return nil }

// Leaf describes one of them; false: there is none of the id.
func (c *Catalogue) Leaf(id LeafID) (Leaf, bool) { return Leaf{}, false }

// Needs returns what has to be ready before anything is told of a definition, those of
// the definitions that it refers to included. Ascending; nil for a key that is not there.
func (c *Catalogue) Needs(key string) []LeafID { return nil }

// Concerns reports whether folding the call could change more of any user than when they
// were seen, and by which source. It looks at the call's type and name alone, and at the
// names of traits.
func (c *Catalogue) Concerns(call *Call) bool { return true }

// Fills is Concerns for a backfill of some leaves; LeafSeen is concerned by every call.
func (c *Catalogue) Fills(call *Call, only func(LeafID) bool) bool { return true }

// Fold takes a call into the state of its user. Only is nil for live calls, which go to
// all leaves; a backfill names those that it fills. Folds commute, and a call that is of
// personas' own making is ignored. Live calls are better taken by [Catalogue.Take]: what
// is due before the call has to be told first (Advance), or the state may no longer have
// what it depended on.
func (c *Catalogue) Fold(p *Profile, call *Call, only func(LeafID) bool) {}

// Advance evaluates what the calls folded since, or the cause, may have changed, at each
// due instant up to now, in order, and then at now. It marks as told what it returns, and
// sets when it is due again: strictly later than now. Ready is nil, or says which leaves
// are filled: of a definition that needs another one nothing is told.
//
// With CauseEvent and CauseTimer only what may have changed is looked at; with the other
// causes every definition is. Now is in whole milliseconds; for a user time does not go
// back: before the latest event, or the last evaluation, it is taken for that.
func (c *Catalogue) Advance(p *Profile, now time.Time, ready func(LeafID) bool, cause Cause) []Change {
	return nil
}

// Take is what is done with a live call at the time now, which is not before it was
// received: Advance to the call's At, Fold, Advance to now.
func (c *Catalogue) Take(p *Profile, call *Call, now time.Time, ready func(LeafID) bool) []Change {
	changes := c.Advance(p, call.At, ready, CauseTimer)
	c.Fold(p, call, nil)
	return append(changes, c.Advance(p, now, ready, CauseEvent)...)
}

// Merge folds all that is known of one user into another one, who survives. What into was
// told stays; what from was told is forgotten. Call [Catalogue.Advance] with CauseMerge
// next. Aliases of from go over; from itself is added by the caller ([Profile.Link]).
func (c *Catalogue) Merge(into, from *Profile) {}
