package ask

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/workspace"
)

// edited is a workspace whose audience was changed.
func edited(t *testing.T, definitions ...string) Workspace {
	t.Helper()
	var all []definition.Audience
	for _, text := range definitions {
		a, err := definition.ParseAudience([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	now := workspace.Audience{Audience: all[0], Edition: workspace.Edition{Version: len(all), Applied: time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC)}}
	for i, a := range all[1:] {
		now.Earlier = append(now.Earlier, workspace.Earlier{
			Version: len(all) - 1 - i, Applied: now.Applied.AddDate(0, 0, -1-i), Definition: a.JSON(),
		})
	}
	return Of((&workspace.Document{Audiences: []workspace.Audience{now}}).Snapshot())
}

const (
	spenders   = `{"id":"big_spenders","name":"Big spenders","when":{"all":[{"did":"Order Completed","take":"sum","of":"total","is":{"gte":250},"within":"90d"},{"trait":"plan","is":"pro"}]}}`
	spendersV2 = `{"id":"big_spenders","name":"Big spenders","when":{"all":[{"did":"Order Completed","take":"sum","of":"total","is":{"gte":500},"within":"90d"},{"trait":"plan","is":"pro"}]}}`
	spendersV1 = `{"id":"big_spenders","name":"Big spenders","stay":"1d","when":{"did":"Order Completed","take":"sum","of":"total","is":{"gte":500},"within":"90d"}}`
)

// TestVersions shows what differs, and prints what can be applied.
func TestVersions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/personas.md")
	if err != nil {
		t.Fatal(err)
	}
	w := edited(t, spenders, spendersV2, spendersV1)
	var out bytes.Buffer
	e, err := Compare(&w, "big_spenders", -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err = PrintEdit(&out, e); err != nil {
		t.Fatal(err)
	}
	if want := "$ anabranch personas diff big_spenders\n" + out.String(); !strings.Contains(string(page), want) {
		t.Errorf("docs/personas.md lacks\n```text\n%s", want)
	}
	out.Reset()
	v, err := VersionOf(&w, "big_spenders", 2)
	if err != nil {
		t.Fatal(err)
	}
	if err = PrintVersion(&out, v); err != nil {
		t.Fatal(err)
	}
	if want := "$ anabranch personas show --version 2 big_spenders\n" + out.String(); !strings.Contains(string(page), want) {
		t.Errorf("docs/personas.md lacks\n```text\n%s", want)
	}
	out.Reset()
	if err := PrintDetails(&out, &Details{Summary: Summary{Key: "big_spenders"}, Versions: w.versions["big_spenders"]}); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(out.String(), "\n\n")
	const rows = `VERSION  APPLIED               CHANGED
3        2026-11-21 08:30:00Z  when
2        2026-11-20 08:30:00Z  stay, when
1        2026-11-19 08:30:00Z  -
`
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if e, err := Compare(&w, "big_spenders", 1, 3); err != nil || strings.Join(e.Changed, " ") != "stay when" {
		t.Errorf("%v, %v", e, err)
	}
}

// TestVersionsThatThereAreNot are told with those that there are.
func TestVersionsThatThereAreNot(t *testing.T) {
	t.Parallel()
	three, one := edited(t, spenders, spendersV2, spendersV1), edited(t, spenders)
	for _, c := range []struct {
		w        *Workspace
		key      string
		from, to int
		want     string
	}{
		{&three, "big_spenders", 1, 4, "big_spenders: expected a version from 1 to 3, which are kept"},
		{&three, "big_spender", 1, 2, `there is no audience or computed trait "big_spender": did you mean "big_spenders"?`},
		{&one, "big_spenders", -1, 0, "big_spenders: no version but 1 is kept"},
	} {
		if _, err := Compare(c.w, c.key, c.from, c.to); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestLinesSideBySide keeps as many lines in common as there are.
func TestLinesSideBySide(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"a b c", "a b c", "  a|  b|  c"},
		{"a b c", "a c", "  a|- b|  c"},
		{"a c", "a b c d", "  a|+ b|  c|+ d"},
		{"a b", "c d", "- a|- b|+ c|+ d"},
		{"x a y a", "a a", "- x|  a|- y|  a"},
	} {
		if got := strings.Join(sideBySide(strings.Fields(c[0]), strings.Fields(c[1])), "|"); got != c[2] {
			t.Errorf("%s and %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
