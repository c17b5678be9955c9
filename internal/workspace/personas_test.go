package workspace_test

import (
	"slices"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/workspace"
)

// TestTheBuiltInSource is there without being declared, connected to whom it names, and no
// write key leads to it.
func TestTheBuiltInSource(t *testing.T) {
	t.Parallel()
	s := workspace.NewSnapshot(nil, []workspace.Destination{
		{ID: "b", Enabled: true, Sources: []string{"personas", "web"}},
		{ID: "a", Enabled: true, Sources: []string{"personas"}},
		{ID: "off", Sources: []string{"personas"}},
		{ID: "other", Enabled: true, Sources: []string{"web"}},
	})
	source, ok := s.Source("personas")
	if !ok || !source.Enabled || len(s.Sources()) != 0 {
		t.Errorf("%+v, %v, among %v", source, ok, s.Sources())
	}
	var listeners []string
	for _, d := range s.Listeners("personas") {
		listeners = append(listeners, d.ID)
	}
	if !slices.Equal(listeners, []string{"a", "b"}) {
		t.Errorf("listeners: %v", listeners)
	}
	for _, key := range []string{"", "personas"} {
		if got, ok := s.SourceByKey(key); ok {
			t.Errorf("the write key %q leads to %+v", key, got)
		}
	}
}

// TestDefinitionsByID holds the order, and what is told from what is deleted.
func TestDefinitionsByID(t *testing.T) {
	t.Parallel()
	audience := func(id string, of workspace.Edition, onDelete definition.OnDelete) workspace.Audience {
		return workspace.Audience{Audience: definition.Audience{Common: definition.Common{ID: id}, OnDelete: onDelete}, Edition: of}
	}
	gone := workspace.Edition{Version: 3, Deleted: true}
	s := (&workspace.Document{
		Audiences: []workspace.Audience{
			audience("z", workspace.Edition{Version: 2}, definition.OnDeleteExit), audience("left", gone, definition.OnDeleteExit),
			audience("kept", gone, definition.OnDeleteKeep), audience("a", workspace.Edition{Version: 1}, definition.OnDeleteKeep),
		},
		Traits: []workspace.Trait{{Trait: definition.Trait{Common: definition.Common{ID: "t"}}}, {Trait: definition.Trait{Common: definition.Common{ID: "old"}}, Edition: gone}},
	}).Snapshot()
	if a := s.Audiences(); len(a) != 2 || a[0].ID != "a" || a[1].ID != "z" || a[1].Version != 2 {
		t.Errorf("audiences: %+v", a)
	}
	if tr := s.Traits(); len(tr) != 1 || tr[0].ID != "t" {
		t.Errorf("traits: %+v", tr)
	}
	if l := s.Leaving(); len(l) != 1 || l[0].ID != "left" {
		t.Errorf("leaving: %+v", l)
	}
	if got := s.DeletedDefinitions(); !slices.Equal(got, []string{"kept", "left", "old"}) {
		t.Errorf("deleted: %v", got)
	}
	if _, ok := s.Audience("left"); ok || s.String() != "0 sources, 0 destinations, 2 audiences, 1 trait" {
		t.Errorf("a deleted audience is found, in %v", s)
	}
}

func TestSettingsOfUsers(t *testing.T) {
	t.Parallel()
	none := workspace.NewSnapshot(nil, nil)
	if bound := none.AnonymousIDs(); bound.Max != 100 || time.Duration(bound.Per) != 7*24*time.Hour {
		t.Errorf("of nothing: %+v", bound)
	}
	set := (&workspace.Document{Identity: &workspace.Identities{AnonymousIDs: &workspace.AnonymousIDs{Max: 3, Per: workspace.Period(time.Hour)}}}).Snapshot()
	if bound := set.AnonymousIDs(); bound.Max != 3 || time.Duration(bound.Per) != time.Hour {
		t.Errorf("%+v", bound)
	}
}
