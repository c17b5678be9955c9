package document

import (
	"testing"
)

func TestProblemsAsText(t *testing.T) {
	t.Parallel()
	var found Problems
	if err := found.Err("w.yaml", 9); err != nil {
		t.Errorf("without problems: %v", err)
	}
	found.Add(Problem{Line: 7, Path: "sources[1].id", Value: `"A"`, Want: "lower case"})
	found.Add(Problem{Line: 2, Path: "sources[0]", Want: "a source"})
	found.Add(Problem{Line: 99, Value: "nothing", Want: "more"})
	found.Add(Problem{Line: 2, Path: "b", Want: "what was found later on one line"})
	found.Add(Problem{Value: "9 bytes", Want: "less"})
	const want = `w.yaml: 9 bytes: expected less
w.yaml:2: sources[0]: expected a source
w.yaml:2: b: expected what was found later on one line
w.yaml:7: sources[1].id: "A": expected lower case
w.yaml:9: nothing: expected more`
	if got := found.Err("w.yaml", 9).Error(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
