package engine

import (
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/event"
	"github.com/anabranch/anabranch/schemas"
)

// Call is one record of raw-events, as the engine looks at it.
type Call = event.Call

// ParseCall makes dst the call that a record of raw-events holds: see [event.Parse]. The
// caller sets Offset.
func ParseCall(dst *Call, value []byte, h *schemas.Headers, received time.Time) error {
	return event.Parse(dst, value, h, received)
}

// Definitions are those of a workspace, in any order.
type Definitions struct {
	Audiences []Audience
	Traits    []Trait
	// Counts is where what happens out of the ordinary is counted; nil: nowhere. It is
	// the caller's, so that it outlives a Catalogue.
	Counts *Counts
}

// Audience is one of them, with what its record says beside the definition.
type Audience struct {
	definition.Audience

	Version int
	// Deleted says that there is none any more. With `on_delete: exit` its members are
	// told that they have left (by a sweep); otherwise it is forgotten.
	Deleted bool
	// Held says that nothing is told of it yet. What it needs of users is remembered.
	Held bool
}

// Trait is a computed trait, likewise.
type Trait struct {
	definition.Trait

	Version int
	Deleted bool
	Held    bool
}

// LeafID names the state that a leaf needs: a hash of its events, filters, sources and
// of the form of its state, not of thresholds or of the definition that it belongs to.
// Definitions that need the same share it, and one that needs more has another.
type LeafID uint64

// LeafSeen is the state that every user has: when they were first and last seen, and by
// which sources. As soon as there is an enabled definition it is among the leaves, and
// a definition that holds for users without events needs it.
const LeafSeen LeafID = 1

// Leaf is what has to be known of a leaf to fill it from the log.
type Leaf struct {
	ID LeafID
	// History is how far back it looks, from where Key is in the log.
	History definition.History
	// Key is the definition whose own the leaf is; empty: it looks at all of the log, and
	// whoever needs it shares it.
	Key string
	// Retention is how far back events may matter: those with At <= now-Retention do
	// not. Zero: all do.
	Retention time.Duration
}

// Class is what a change is about, as `context.personas.computation_class` has it.
type Class string

// The classes.
const (
	ClassAudience      Class = "audience"
	ClassComputedTrait Class = "computed_trait"
)

// Cause is why something is told, as `context.personas.cause` has it.
type Cause string

// The causes there are.
const (
	CauseEvent Cause = "event" // a call was folded
	CauseTimer Cause = "timer" // time passed
	CauseEdit  Cause = "edit"  // a definition was made, changed or deleted
	CauseMerge Cause = "merge" // another user was merged into this one
	CauseSweep Cause = "sweep" // every user is looked at once more
	// CauseResync is that of a change that was told before, and is told one destination
	// again since somebody asked for it.
	CauseResync Cause = "resync"
)

// Change is what a user's destinations are told.
type Change struct {
	Class   Class
	Key     string // the property
	ID      string // of the definition; today the same as Key
	Version int    // of the definition
	Member  bool   // of an audience
	Value   []byte // of a computed trait: stable JSON; null: none any more
	// At is when the truth changed, in whole milliseconds: of a timer, the instant; of an
	// event, its time, or that of the latest one so far if it came late; of the others,
	// now. For one key it never goes back.
	At    time.Time
	Cause Cause
	// Seq counts the changes of the profile, from 1: with user and key it names the
	// change, also when it is computed again.
	Seq uint64
}
