package lab

import (
	"context"
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

// Audit has the product account for each call of the row, beside the bench's own books. An
// account that could not be given, or that knows of no call, fails the row.
func (l *Lab) Audit(ctx context.Context, r *report.Result) {
	if l.straight {
		r.Note("no audit: the row's events are written straight onto the topics of destinations")
		return
	}
	began := time.Now()
	var found audited
	// That something is missing or not known is in the report, beside the exit code.
	if err := l.Ask(ctx, &found, "audit", "--json", "--settle", "0s", "--from", l.began.UTC().Format(time.RFC3339)); err != nil {
		r.Require(false, "no audit: %v", err)
		return
	}
	found.judge(r, time.Since(began))
}

func (a *audited) judge(r *report.Result, took time.Duration) {
	accepted, missing, repeats := int64(0), int64(0), int64(0)
	for _, row := range a.Rows {
		accepted, missing, repeats = accepted+row.Accepted, missing+row.Missing, repeats+row.Repeats
	}
	r.Require(accepted > 0, "the audit knows of no call")
	r.Require(missing == 0, "the audit finds %d of %d missing", missing, accepted)
	r.Note("audit: %d accounted for, %d repeats, in %s", accepted-missing, repeats, took.Round(100*time.Millisecond))
	if len(a.Unknown) > 0 {
		r.Note("the audit is inconclusive: %s of %s and %d more", a.Unknown[0].Cause, a.Unknown[0].Part, len(a.Unknown)-1)
	}
}
