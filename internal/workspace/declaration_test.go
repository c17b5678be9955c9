package workspace_test

import (
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

// TestEveryKindHasEntries, of its own type: without them nothing of it would ever be
// published.
func TestEveryKindHasEntries(t *testing.T) {
	t.Parallel()
	for _, section := range workspace.Declaration().Fields {
		entries := wstest.CRM().Entries(section.Kind)
		if len(entries) == 0 {
			t.Errorf("%s: no entries", section.Kind)
		}
		for _, entry := range entries {
			if entry.Type() != section.Entry().Type {
				t.Errorf("%s: an entry of type %s", section.Kind, entry.Type())
			}
		}
	}
}

// TestEveryFieldIsDescribed, since editors and the reference show it.
func TestEveryFieldIsDescribed(t *testing.T) {
	t.Parallel()
	var look func(path string, s *kind.Shape)
	look = func(path string, s *kind.Shape) {
		for _, f := range s.Fields {
			if f.Desc == "" {
				t.Errorf("%s.%s: no desc", path, f.Key)
			}
			look(path+"."+f.Key, f.Shape)
		}
		if s.Elem != nil {
			look(path, s.Elem)
		}
	}
	look("", workspace.Declaration())
}

func TestMaxEndpointsIsDeclared(t *testing.T) {
	t.Parallel()
	for _, f := range workspace.Declaration().Fields[1].Elem.Fields {
		if f.Key == "endpoints" && f.Most == workspace.MaxEndpoints {
			return
		}
	}
	t.Error("the bound on endpoints is another")
}
