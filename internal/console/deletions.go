package console

import (
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/terminal"
)

// Deletions are the requests about single users, and what they come to.
type Deletions struct {
	Requests   []regulation.Regulation // the latest first
	Suppressed int                     // users whose calls are dropped
	Unknown    int                     // users who are suppressed under keys that this process lacks
}

// deletionsView is one page of the list of requests.
type deletionsView struct {
	progress
	pager

	Search     string
	Suppressed string
	Unknown    string // empty: none
	Rows       []deletionRow
}

// deletionRow is a request. It names no user.
type deletionRow struct {
	ID, Type, Status  string
	Created, Finished string
	Users             string
	Told              string // how many of them the affected sources were told of; empty: nobody has to be
	Sources           []string
	Reason            string // of a failure
}

// deletions asks for the requests about single users.
func (c *Console) deletions(v *visit) (*content, error) {
	a := c.asked.deletions.Ask(v.Context(), struct{}{})
	view := deletionsView{progress: progressOf(&a, v.now), Search: v.text("q")}
	if a.Known() {
		view.fill(a.Value, v.text("page"))
		view.link(v.URL)
	}
	return &content{title: "Deletions", again: again(&a, 0), view: view}, nil
}

func (d *deletionsView) fill(all *Deletions, number string) {
	d.Suppressed = terminal.Count(int64(all.Suppressed))
	if all.Unknown > 0 {
		d.Unknown = terminal.Count(int64(all.Unknown))
	}
	var found []regulation.Regulation
	for i := range all.Requests {
		if r := &all.Requests[i]; holds(d.Search, r.ID, string(r.Type), string(r.Status)) {
			found = append(found, *r)
		}
	}
	found, d.pager = paged(found, number)
	for i := range found {
		d.Rows = append(d.Rows, deletionOf(&found[i]))
	}
}

func deletionOf(r *regulation.Regulation) deletionRow {
	row := deletionRow{
		ID: r.ID, Type: string(r.Type), Status: string(r.Status), Created: terminal.Moment(r.CreatedAt), Finished: terminal.Moment(r.FinishedAt),
		Users: terminal.Count(int64(r.Subjects)), Sources: r.Sources, Reason: r.Reason,
	}
	if r.Type.Deletes() {
		row.Told = terminal.Count(int64(r.Notified)) + " (" + percent(r.Notified, r.Subjects) + ")"
	}
	return row
}

// percent is a share, rounded down: all is said of all alone.
func percent(part, whole int) string {
	if whole == 0 {
		return "100 %"
	}
	return strconv.Itoa(part*100/whole) + " %"
}

// ago is a time before another, of which no more is needed than the second.
func ago(now time.Time, back time.Duration) time.Time {
	return now.Add(-back).UTC().Truncate(time.Millisecond)
}
