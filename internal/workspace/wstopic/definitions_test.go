package wstopic

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

const noSources = "sources: []\ndestinations: []\n"

// file is a workspace of definitions alone.
func file(t *testing.T, definitions string) *workspace.Snapshot {
	t.Helper()
	s, err := wsfile.Parse("workspace.yaml", []byte(noSources+definitions), wsfile.Lookup{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestVersionsOfADefinition grow with each change that is applied, and not with what
// changes nothing.
func TestVersionsOfADefinition(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	for _, step := range []struct {
		definitions     string
		changes         string
		audience, trait int
	}{
		{"audiences: [{id: a, when: {did: E}}]\ntraits: [{id: t, take: count, did: E}]\n", "+ audience a, + trait t", 1, 1},
		{"audiences: [{id: a, name: a, when: {did: E, times: {gte: 1}}}]\ntraits: [{id: t, take: count, did: E}]\n", "", 1, 1},
		{"audiences: [{id: a, when: {did: E, times: 2}, stay: 1d}]\ntraits: [{id: t, take: count, did: E}]\n", "~ audience a: when, stay changed", 2, 1},
		{"audiences: [{id: a, when: {did: E, times: 2}, stay: 1d, enabled: false}]\ntraits: [{id: t, take: sum, of: x, did: E}]\n", "~ audience a: enabled changed, ~ trait t: take, of changed", 3, 2},
		{"audiences: [{id: a, when: {did: E}}]\ntraits: [{id: t, take: sum, of: x, did: E}]\n", "~ audience a: enabled, when, stay changed", 4, 2},
	} {
		changes := wstest.Lines(apply(t, p, file(t, step.definitions)))
		if diff := cmp.Diff(step.changes, strings.Join(changes, ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.definitions, diff)
		}
		s := read(t, c).Snapshot
		a, hasAudience := s.Audience("a")
		tr, hasTrait := s.Trait("t")
		if !hasAudience || !hasTrait || a.Version != step.audience || tr.Version != step.trait {
			t.Errorf("%s: versions %d and %d, want %d and %d", step.definitions, a.Version, tr.Version, step.audience, step.trait)
		}
	}
}

// TestEarlierVersions are kept beside the one in force, with when each was applied: twenty in
// all, and fewer where they are large.
func TestEarlierVersions(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	event := func(i int) string { return fmt.Sprintf("%d %s", i, strings.Repeat("E", 100)) }
	version := func(i int, more string) *workspace.Snapshot {
		return file(t, fmt.Sprintf("audiences: [{id: a, when: {did: %s}}]\ntraits: [{id: t, take: count, did: F, where: {x: [%s]}}]\n", event(i), more))
	}
	begun := time.Now().Add(-time.Minute)
	for i := range 23 {
		apply(t, p, version(i+1, fmt.Sprintf("%d, %s", i, strings.Repeat("x", 30_000))))
	}
	s := read(t, c).Snapshot
	a, _ := s.Audience("a")
	if a.Version != 23 || len(a.Earlier) != 19 || a.Applied.Before(begun) {
		t.Fatalf("version %d of %v with %d earlier ones", a.Version, a.Applied, len(a.Earlier))
	}
	last := a.Applied
	for i, e := range a.Earlier {
		_, err := definition.ParseAudience(e.Definition)
		if err != nil || e.Version != 22-i || !strings.Contains(string(e.Definition), event(e.Version)) || e.Applied.Before(begun) || e.Applied.After(last) {
			t.Errorf("earlier version %d is %d of %v, %s, %v", i, e.Version, e.Applied, e.Definition, err)
		}
		last = e.Applied
	}
	if tr, _ := s.Trait("t"); tr.Version != 23 || len(tr.Earlier) != 7 || tr.Earlier[6].Version != 16 {
		t.Errorf("of a large trait %d earlier versions are kept", len(tr.Earlier))
	}
}

// TestADeletedIDIsNeverUsedAgain, neither for the same thing nor for the other kind.
func TestADeletedIDIsNeverUsedAgain(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	const kept, left, trait = "{id: kept, when: {did: E}}", "{id: gone, on_delete: exit, when: {did: E}}", "traits: [{id: t, take: count, did: E}]\n"
	apply(t, p, file(t, "audiences: ["+kept+", "+left+"]\n"+trait))
	if changes := wstest.Lines(apply(t, p, file(t, "audiences: []\ntraits: []\n"))); strings.Join(changes, ", ") != "- audience gone, - audience kept, - trait t" {
		t.Errorf("deleted: %v", changes)
	}
	s := read(t, c).Snapshot
	if diff := cmp.Diff([]string{"gone", "kept", "t"}, s.DeletedDefinitions()); diff != "" || len(s.Audiences())+len(s.Traits()) > 0 {
		t.Errorf("left are %v; deleted (-want +got):\n%s", s, diff)
	}
	if leaving := s.Leaving(); len(leaving) != 1 || leaving[0].ID != "gone" || leaving[0].Version != 2 || !leaving[0].Deleted {
		t.Errorf("leaving: %+v", leaving)
	}
	for definitions, want := range map[string]string{
		"audiences: [" + kept + "]\n":                 "audience kept: an id can't be used again, and kept was an audience: choose another",
		"traits: [{id: gone, take: count, did: E}]\n": "trait gone: an id can't be used again, and gone was an audience: choose another",
		"audiences: [{id: t, when: {did: E}}]\n":      "audience t: an id can't be used again, and t was a computed trait: choose another",
	} {
		_, err := p.Apply(t.Context(), file(t, definitions))
		if !errors.Is(err, workspace.ErrUsedID) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", definitions, err, want)
		}
	}
	apply(t, p, file(t, "audiences: [{id: other, when: {did: E}}]\n"))
	if _, err := p.Apply(t.Context(), file(t, "audiences: []\ntraits: [{id: other, take: count, did: E}]\n")); !errors.Is(err, workspace.ErrUsedID) {
		t.Errorf("an audience becomes a trait: %v", err)
	}
}

// TestASectionThatIsLeftOut deletes nothing, since what it deletes can't be brought back.
func TestASectionThatIsLeftOut(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	const audiences, traits = "audiences: [{id: a, when: {did: E}}]\n", "traits: [{id: t, take: count, did: E}]\n"
	apply(t, p, file(t, audiences+traits))
	for definitions, want := range map[string]string{
		audiences: "traits, of which the workspace in force has 1; `traits: []` deletes them",
		traits:    "audiences, of which the workspace in force has 1; `audiences: []` deletes them",
	} {
		if _, err := p.Apply(t.Context(), file(t, definitions)); !errors.Is(err, workspace.ErrLeftOut) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", definitions, err)
		}
	}
	apply(t, p, file(t, audiences+"traits: []\n"))
	if changes := apply(t, p, file(t, audiences)); len(changes) > 0 { // there is nothing left to delete
		t.Errorf("changed %v", changes)
	}
}

// TestTheExampleIsLeftOut by whoever applies a workspace without definitions.
func TestTheExampleIsLeftOut(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	if _, err := p.Seed(t.Context(), workspace.Example("http://127.0.0.1:8082/")); err != nil {
		t.Fatal(err)
	}
	apply(t, p, file(t, ""))
	if s := read(t, c).Snapshot; len(s.Audiences())+len(s.Traits()) > 0 {
		t.Errorf("in force: %v", s)
	}
}

// TestDefinitionsOfALaterRelease stay what they were, and nothing is written over them.
func TestDefinitionsOfALaterRelease(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, file(t, "audiences: [{id: a_b, when: {did: E}}]\n"))
	write(t, c, record("audience/a_b", `{"revision":2,"definition":{"id":"a_b","when":{"did":"E","then_not":{"did":"F","within":"1d"}}}}`))
	s := read(t, c).Snapshot
	if a, ok := s.Audience("a_b"); !ok || a.Version != 1 {
		t.Errorf("in force: %+v", a)
	}
	if _, err := p.Apply(t.Context(), file(t, "audiences: [{id: a_b, when: {did: G}}]\n")); err == nil || !strings.Contains(err.Error(), "a later release wrote audience/a_b") {
		t.Errorf("applied: %v", err)
	}
	write(t, c, &kgo.Record{Topic: schemas.TopicWorkspace, Key: []byte("audience/a_b")})
	if s := read(t, c).Snapshot; len(s.Audiences()) != 0 || len(s.DeletedDefinitions()) != 0 {
		t.Errorf("a record that somebody removed: %v", s)
	}
}
