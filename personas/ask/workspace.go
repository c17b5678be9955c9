package ask

import (
	"cmp"
	"maps"
	"slices"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/personas"
	"github.com/anabranch/anabranch/personas/internal/engine"
)

// Workspace has the definitions of a workspace.
type Workspace struct {
	defined engine.Definitions
	// versions are those of each definition, the latest first; of a file there are none.
	versions map[string][]Version
	// connected says of each destination whether it is told of audiences and traits.
	connected map[string]bool
}

// Of returns the definitions of a snapshot.
func Of(s *workspace.Snapshot) Workspace {
	w := Workspace{defined: *personas.DefinitionsIn(s), versions: versionsOf(s), connected: make(map[string]bool)}
	for _, d := range s.Destinations() {
		w.connected[d.ID] = d.Enabled && d.Connected(workspace.SourcePersonas)
	}
	return w
}

// Kind is a kind of definition, as `context.personas.computation_class` has it.
type Kind = engine.Class

// Definition is an audience or a computed trait, with what is alike in both.
type Definition struct {
	Kind    Kind
	Version int
	definition.Common

	json []byte
}

// definitions returns those that are not deleted, in the order of their keys.
func (w *Workspace) definitions() []Definition {
	var all []Definition
	for i := range w.defined.Audiences {
		if a := &w.defined.Audiences[i]; !a.Deleted {
			all = append(all, Definition{engine.ClassAudience, a.Version, a.Common, a.JSON()})
		}
	}
	for i := range w.defined.Traits {
		if t := &w.defined.Traits[i]; !t.Deleted {
			all = append(all, Definition{engine.ClassComputedTrait, t.Version, t.Common, t.JSON()})
		}
	}
	slices.SortFunc(all, func(a, b Definition) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func (w *Workspace) find(key string) (*Definition, error) {
	near := nearestTo(key)
	for _, d := range w.definitions() {
		if d.ID == key {
			return &d, nil
		}
		near.try(d.ID)
	}
	return nil, &Unknown{"audience or computed trait", key, near.near}
}

func (w *Workspace) compile() (*engine.Catalogue, error) { return engine.Compile(w.defined) }

// follow returns the ids of the definitions that differ, and of those that refer to one of
// them.
func (w *Workspace) follow(differs func(*Definition) bool) map[string]bool {
	found := make(map[string]bool)
	for _, d := range w.definitions() {
		if differs(&d) {
			found[d.ID] = true
		}
	}
	for range w.defined.Audiences { // one refers to another, and so on
		for i := range w.defined.Audiences {
			a := &w.defined.Audiences[i]
			a.When.Leaves(func(_ string, l *definition.Leaf) {
				found[a.ID] = found[a.ID] || found[l.Audience] || found[l.Computed]
			})
		}
	}
	maps.DeleteFunc(found, func(_ string, differs bool) bool { return !differs })
	return found
}

// alone returns definitions of which only some are enabled; the others may be referred to.
func (w *Workspace) alone(wanted func(key string) bool) engine.Definitions {
	d := engine.Definitions{Audiences: slices.Clone(w.defined.Audiences), Traits: slices.Clone(w.defined.Traits)}
	for i := range d.Audiences {
		a := &d.Audiences[i]
		a.Enabled = a.Enabled && wanted(a.ID)
	}
	for i := range d.Traits {
		t := &d.Traits[i]
		t.Enabled = t.Enabled && wanted(t.ID)
	}
	return d
}
