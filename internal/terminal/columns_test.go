package terminal

import (
	"strconv"
	"strings"
	"testing"
)

func TestColumns(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	table := &Columns{Out: &out}
	for _, cells := range [][]string{{"ID", "NAME", "DETAIL"}, {"1", "Zoë", "ok"}, {"10", "", "a long detail"}} {
		if err := table.Row(cells...); err != nil {
			t.Fatal(err)
		}
	}
	if out.Len() > 0 {
		t.Errorf("printed before the widths were known: %q", out.String())
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "ID  NAME  DETAIL\n1   Zoë   ok\n10        a long detail\n"; out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// A table of any length is printed while it comes.
func TestColumnsFlow(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	table := &Columns{Out: &out}
	for i := range 3 * page {
		if err := table.Row(strconv.Itoa(i), "x"); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "\n"); i+1-got >= page {
			t.Fatalf("%d of %d rows were held back", i+1-got, i+1)
		}
	}
}
