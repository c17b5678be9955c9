package wsfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
)

func shop(t *testing.T) *workspace.Snapshot {
	t.Helper()
	s, err := wsfile.Parse("workspace.yaml", []byte(`
sources: [{id: website, writeKey: wk_website}]
destinations: [{id: crm, type: webhooks, sources: [website, personas], endpoints: [{url: "https://crm.example.com/hooks"}]}]
audiences:
  - {id: buyers, when: {did: Order Completed}}
  - {id: lapsed, when: {not: {audience: buyers}}}
traits:
  - {id: orders, take: count, did: Order Completed}
`), wsfile.SystemLookup())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEdit: one entry, or a list of them, in the place of what has the same id, or beside it.
func TestEdit(t *testing.T) {
	t.Parallel()
	next, err := wsfile.Edit([]byte("- {id: buyers, when: {did: Order Completed, within: 7d}}\n- {id: spent, take: sum, of: total, did: Order Completed}\n"), shop(t))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := next.Audience("buyers")
	if text := string(a.JSON()); !strings.Contains(text, `"within":"7d"`) || len(next.Audiences()) != 2 || len(next.Traits()) != 2 {
		t.Errorf("buyers is %s, of %d audiences and %d traits", text, len(next.Audiences()), len(next.Traits()))
	}
	if next, err = wsfile.Edit([]byte("id: lapsed\nwhen: {did: Order Completed, times: 0}\n"), shop(t)); err != nil || len(next.Audiences()) != 2 {
		t.Errorf("one entry: %v", err)
	}
}

// TestWhatIsWrongWithAnEdit is said with its line and path.
func TestWhatIsWrongWithAnEdit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "an empty file: expected audiences and computed traits as a file has them",
		"[]":                                  "definition:1: an empty list: expected audiences and computed traits",
		"- 7":                                 "definition:1: \"7\": expected audiences and computed traits as a file has them",
		"- {id: ":                             "definition:1: not YAML",
		"- id: x\n  when: {done: y}\n":        "definition:2: audiences[0].when: a mapping: expected a condition",
		"- {id: x, when: {audience: nobody}}": "audiences[0].when.audience: \"nobody\"",
		"- {id: orders, when: {did: y}}":      "an id of its own among audiences and traits",
		"- {id: buyers, when: {audience: lapsed}}":                              "audiences that do not lead back to themselves",
		"- {id: x, when: {did: y}, destinations: [erp]}":                        "audiences[0].destinations",
		"- &a {id: x, when: {did: y}}\n- *a\n":                                  "definition:2:",
		"- {id: x, take: count, did: y}\n- {id: z, take: none, did: \"\\e[1\"}": "traits[1].take",
	} {
		_, err := wsfile.Edit([]byte(text), shop(t))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// FuzzEdit: what is not refused with a reason is a workspace that has all of the definitions in
// force, and others at most.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{"", "- {id: buyers, when: {did: x}}", "id: x\ntake: count\ndid: y\n", "[]", "- &a {}\n- *a", "{when: {}}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		next, err := wsfile.Edit([]byte(text), shop(t))
		if err != nil {
			if _, known := errors.AsType[*wsfile.Error](err); !known {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for _, id := range []string{"buyers", "lapsed"} {
			if _, there := next.Audience(id); !there {
				t.Errorf("%q takes away %s", text, id)
			}
		}
	})
}
