package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/anabranch/anabranch/test/storm/report"
)

// audited is what `anabranch audit --json` prints, as far as rows are judged by it.
type audited struct {
	Rows []struct {
		Accepted int64 `json:"accepted"`
		Missing  int64 `json:"missing"`
		Repeats  int64 `json:"repeats"`
	} `json:"rows"`
	Unknown []struct {
		Cause string `json:"cause"`
		Part  string `json:"part"`
	} `json:"unknown"`
}

// audit has the product account for each call of the row, beside the bench's own books.
// Rows that write events straight onto the topics of destinations have no such calls.
func (l *Lab) audit(ctx context.Context, r *report.Result) {
	cmd := exec.CommandContext(ctx, l.bench.Binary, "audit", "--json", "--settle", "0s", "--from", l.began.UTC().Format(time.RFC3339)) //nolint:gosec // the binary under test
	cmd.Env = append(os.Environ(), l.settings()...)
	began := time.Now()
	out, _ := cmd.Output() // the exit code is in the report
	var found audited
	if err := json.Unmarshal(out, &found); err != nil {
		r.Note("audit: no report: %v", err)
		return
	}
	accepted, missing, repeats := int64(0), int64(0), int64(0)
	for _, row := range found.Rows {
		accepted, missing, repeats = accepted+row.Accepted, missing+row.Missing, repeats+row.Repeats
	}
	r.Require(missing == 0, "the audit finds %d of %d missing", missing, accepted)
	note := fmt.Sprintf("audit: %d accounted for, %d repeats, in %s", accepted-missing, repeats, time.Since(began).Round(100*time.Millisecond))
	if len(found.Unknown) > 0 {
		note += fmt.Sprintf("; not known: %s of %s and %d more", found.Unknown[0].Cause, found.Unknown[0].Part, len(found.Unknown)-1)
	}
	r.Note("%s", note)
}
