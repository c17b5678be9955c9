package wsfile

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/internal/workspace"
)

const wantEntries = "audiences and computed traits as a file has them: a list of entries, or one of them"

// Edit returns a workspace in which some audiences and computed traits stand in the place of
// those of the same ids, or beside the others. The text has them as the sections of a file do:
// a list of entries, or one of them; one with a condition under when is an audience. The error
// is a [*Error] that lists all problems.
func Edit(text []byte, inForce *workspace.Snapshot) (*workspace.Snapshot, error) {
	var found document.Problems
	edited := entriesOf(rootOf(text, &found), &found)
	for i := range found {
		if found[i].Want == wantDocument {
			found[i].Want = wantEntries
		}
	}
	next := edited.over(inForce)
	if len(found) == 0 {
		next.Check(func(path, value, want string) { found.Add(Problem{Path: path, Value: value, Want: want}) })
	}
	if err := found.Err("definition", lineAt(text, len(text))); err != nil {
		return nil, err
	}
	return next.Snapshot(), nil
}

// edited are definitions of a text.
type edited struct {
	audiences []workspace.Audience
	traits    []workspace.Trait
}

func entriesOf(root *yaml.Node, found *document.Problems) (all edited) {
	if root == nil {
		return all
	}
	entries := []*yaml.Node{root}
	if root.Kind == yaml.SequenceNode {
		entries = root.Content
	}
	for _, entry := range entries {
		if entry.Kind != yaml.MappingNode {
			found.Add(Problem{Line: entry.Line, Value: document.Shown(entry), Want: wantEntries})
			continue
		}
		if hasKey(entry, "when") {
			var a workspace.Audience
			*found = append(*found, a.ReadFile(entry, document.ElementPath("audiences", len(all.audiences)))...)
			all.audiences = append(all.audiences, a)
			continue
		}
		var t workspace.Trait
		*found = append(*found, t.ReadFile(entry, document.ElementPath("traits", len(all.traits)))...)
		all.traits = append(all.traits, t)
	}
	if len(entries) == 0 {
		found.Add(Problem{Line: 1, Value: "an empty list", Want: wantEntries})
	}
	return all
}

func hasKey(mapping *yaml.Node, key string) bool {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return true
		}
	}
	return false
}

// over are a workspace's definitions behind the edited ones, so that paths lead to those, and
// what definitions refer to.
func (e *edited) over(s *workspace.Snapshot) *workspace.Document {
	next := &workspace.Document{Sources: s.Sources(), Audiences: e.audiences, Traits: e.traits}
	for _, d := range s.Destinations() {
		next.Destinations = append(next.Destinations, *d)
	}
	for _, was := range s.Audiences() {
		if !slices.ContainsFunc(e.audiences, func(a workspace.Audience) bool { return a.ID == was.ID }) {
			next.Audiences = append(next.Audiences, was)
		}
	}
	for _, was := range s.Traits() {
		if !slices.ContainsFunc(e.traits, func(t workspace.Trait) bool { return t.ID == was.ID }) {
			next.Traits = append(next.Traits, was)
		}
	}
	return next
}
