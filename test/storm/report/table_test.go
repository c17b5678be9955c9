package report

import (
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	t.Parallel()
	table := &Table{Head: []string{"instances", "events/s"}}
	table.Add(1, "9000")
	table.Add(4, 12.5)
	r := &Result{Row: "scale", Table: table}
	var line strings.Builder
	if err := Print(&line, r); err != nil {
		t.Fatal(err)
	}
	if want := "  instances  events/s\n  1          9000\n  4          12.5\n"; !strings.HasSuffix(line.String(), want) {
		t.Errorf("printed\n%s\nwant at its end\n%s", line.String(), want)
	}
	var page strings.Builder
	if err := Markdown(&page, Origin{When: time.Unix(0, 0)}, []*Result{{Row: "other"}, r}); err != nil {
		t.Fatal(err)
	}
	want := "\n`scale`:\n\n| instances | events/s |\n|---|---|\n| 1 | 9000 |\n| 4 | 12.5 |\n"
	if !strings.HasSuffix(page.String(), want) || strings.Contains(page.String(), "`other`") {
		t.Errorf("page\n%s\nwant at its end\n%s", page.String(), want)
	}
}
