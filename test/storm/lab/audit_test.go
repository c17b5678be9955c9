package lab

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/storm/report"
)

// TestAnAuditThatSaysNothing fails a row, and one that does not see all of it says so.
func TestAnAuditThatSaysNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ report, broken, note string }{
		"all is there":      {`{"rows":[{"accepted":7,"missing":0,"repeats":2},{"accepted":3}]}`, "", "10 accounted for, 2 repeats"},
		"one is missing":    {`{"rows":[{"accepted":7,"missing":1}]}`, "1 of 7 missing", "6 accounted for"},
		"there was no call": {`{"rows":[]}`, "knows of no call", "0 accounted for"},
		"a part is not known": {
			`{"rows":[{"accepted":7}],"unknown":[{"cause":"hidden","part":"raw-events[4]"},{"cause":"moving"}]}`,
			"", "inconclusive: hidden of raw-events[4] and 1 more",
		},
	} {
		var a audited
		if err := json.Unmarshal([]byte(c.report), &a); err != nil {
			t.Fatal(err)
		}
		var r report.Result
		a.judge(&r, time.Second)
		if broken := strings.Join(r.Broken, "; "); !strings.Contains(broken, c.broken) || (broken == "") != (c.broken == "") {
			t.Errorf("%s: broken: %q, want %q", name, broken, c.broken)
		}
		if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, c.note) }) {
			t.Errorf("%s: notes %q, want %q", name, r.Notes, c.note)
		}
	}
}
