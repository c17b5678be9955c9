package imports

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/testkit"
)

// planned plans an import.
func (y *yard) planned(in Input, asJSON bool) string {
	y.t.Helper()
	var out bytes.Buffer
	load := func(context.Context) (Terms, error) { return y.terms, nil }
	if err := Plan(y.t.Context(), Planning{Input: in, Load: load, Out: &out, JSON: asJSON}); err != nil {
		y.t.Fatal(err)
	}
	return out.String()
}

func TestAPlan(t *testing.T) {
	t.Parallel()
	y := newYard(t, testkit.Fake(t))
	text, good := numbered(1000)
	in := Input{Name: Stdin, Stdin: strings.NewReader(text)}
	out := y.planned(in, false)
	for _, want := range []string{
		"-:4: event_not_string: ", "and 43 rows more that would be refused; --json names them all",
		"row 1  {", `    ->  {"type":"track","userId":"u0"`, "row 4  {", "    ->  nothing",
		"-, format ndjson, to source website", "rows      1,000, of which 857 would be accepted and 143 refused",
		"track     857", "happened  2019-01-01T00:00:00Z to 2019-01-01T00:00:00Z", "digest    ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%.3000s", want, out)
		}
	}
	in.Stdin = strings.NewReader(text)
	var printed struct {
		Preview

		Refusals []Refusal `json:"refusals"`
	}
	if err := json.Unmarshal([]byte(y.planned(in, true)), &printed); err != nil {
		t.Fatal(err)
	}
	if printed.Accepted != int64(good) || len(printed.Refusals) != 1000-good || len(printed.Sample) != samples || printed.Digest == "" {
		t.Errorf("printed %+v", printed)
	}
	got := printed.Refusals[142]
	if diff := cmp.Diff(Refusal{Row: 998, File: "-", Line: 998, Reason: got.Reason}, got); diff != "" {
		t.Errorf("the last refusal (-want +got):\n%s", diff)
	}
	// The digest is that of the import.
	set := y.settings(file(t, "calls", text))
	set.JSON = true
	var done result
	if err := json.Unmarshal([]byte(y.start(set)), &done); err != nil || done.Digest != printed.Digest || done.Refused != printed.Refused {
		t.Errorf("%v, imported %+v", err, done)
	}
}

// TestTheExampleOfThePage maps an extract of CDNOW, and the whole of it where CDNOW names
// the file.
func TestTheExampleOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := os.ReadFile("testdata/cdnow.yaml")
	if err != nil || !bytes.Contains(page, mapping) {
		t.Errorf("%v: docs/import.md does not show testdata/cdnow.yaml", err)
	}
	y := newYard(t, testkit.Fake(t))
	out := y.planned(Input{Name: "testdata/cdnow.txt", Map: "testdata/cdnow.yaml"}, false)
	for _, want := range []string{
		"row 1   00001 19970101  1   11.77\n", `"userId":"00001","event":"Order Completed","timestamp":"1997-01-01T00:00:00.000Z","properties":{"quantity":1,"revenue":11.77}`,
		"rows      39, of which 39 would be accepted and 0 refused",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	const whole = "../../../shared/data/cdnow.txt"
	if _, err := os.Stat(whole); err != nil {
		t.Skipf("%s is absent: only an extract was mapped", whole)
	}
	out = y.planned(Input{Name: whole, Map: "testdata/cdnow.yaml"}, false)
	if !strings.Contains(out, "rows      69,659, of which 69,659 would be accepted and 0 refused") || !strings.Contains(out, "happened  1997-01-01T00:00:00Z to 1998-06-30T00:00:00Z") {
		t.Error(out)
	}
}
