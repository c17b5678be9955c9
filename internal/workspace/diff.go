package workspace

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Change is the difference that one thing makes, such as a source or an audience. It names
// what differs and shows none of it, so that it can be printed.
type Change struct {
	Op     Op
	Kind   string // one of the kinds below
	ID     string
	Fields []string // Changed: the keys of the file that differ, in its order
	// Left says what becomes of the topic of a destination that is gone or has another one
	// now: nothing is deleted. Empty: there is nothing to say.
	Left string
}

// The kinds of things that a workspace holds, as the [Document] declares them.
const (
	KindSource      = "source"
	KindDestination = "destination"
	KindAudience    = "audience"
	KindTrait       = "trait"
	KindIdentity    = "identity"
)

// SettingsID is the id of what a workspace has only one of.
const SettingsID = "settings"

// Op is what happened to it.
type Op byte

// The things that can happen, as they are printed.
const (
	Added   Op = '+'
	Changed Op = '~'
	Removed Op = '-'
	// Resealed and Unsealed: nothing differs but that its secrets are encrypted, with the
	// current key now, and that they are no longer.
	Resealed Op = '='
	Unsealed Op = '!'
)

// String returns a line such as "~ destination crm: endpoints, sharedSecret
// changed" or "- source website".
func (c Change) String() string {
	line := fmt.Sprintf("%c %s %s", c.Op, c.Kind, c.ID)
	switch c.Op {
	case Changed:
		line += ": " + strings.Join(c.Fields, ", ") + " changed"
	case Resealed:
		line += ": secrets encrypted with the current key"
	case Unsealed:
		line += ": secrets written in the clear"
	case Added, Removed:
	}
	return line
}

// Diff returns what has to change for before to become after: kinds in the order
// of the [Document], each by id. It is empty when both say the same.
func Diff(before, after *Snapshot) []Change {
	var changes []Change
	for _, section := range Declaration().Fields {
		was, is := before.Entries(section.Kind), after.Entries(section.Kind)
		ids := maps.Clone(was)
		maps.Copy(ids, is)
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			change := Change{Kind: section.Kind, ID: id}
			switch from, to := was[id], is[id]; {
			case !from.IsValid():
				change.Op = Added
			case !to.IsValid():
				change.Op = Removed
			default:
				change.Op, change.Fields = Changed, section.Entry().Differences(from, to)
			}
			if section.Kind == KindDestination {
				was, _ := before.Destination(id)
				is, _ := after.Destination(id)
				change.Left = left(was, is)
			}
			if change.Op != Changed || len(change.Fields) > 0 {
				changes = append(changes, change)
			}
		}
	}
	return changes
}

// Entries returns what the snapshot holds of a kind, by id.
func (s *Snapshot) Entries(of string) map[string]reflect.Value {
	entries := make(map[string]reflect.Value)
	switch of {
	case KindSource:
		for id, source := range s.sourceByID {
			entries[id] = reflect.ValueOf(source)
		}
	case KindDestination:
		for id, destination := range s.destByID {
			entries[id] = reflect.ValueOf(*destination)
		}
	case KindAudience:
		for id, audience := range s.audienceByID {
			entries[id] = reflect.ValueOf(audience)
		}
	case KindTrait:
		for id, trait := range s.traitByID {
			entries[id] = reflect.ValueOf(trait)
		}
	case KindIdentity:
		if s.identity != nil {
			entries[SettingsID] = reflect.ValueOf(*s.identity)
		}
	}
	return entries
}
