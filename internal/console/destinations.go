package console

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/workspace"
)

// destinationRow is a destination in a list.
type destinationRow struct {
	ID, Name, State     string
	Undelivered, Oldest string
	Retrying, RetryAge  string
	Dead                int64
	DeadText, FailsWith string

	worth int // how much there is to say about it
}

// destinationRows lists all destinations, as the report has them.
func destinationRows(r *status.Report, w *workspace.Snapshot) []destinationRow {
	dead := make(map[string]int64)
	for _, g := range r.DeadLetters.Groups {
		dead[g.Destination] += g.Events - g.Redriven
	}
	rows := make([]destinationRow, len(r.Destinations))
	for i := range r.Destinations {
		d := &r.Destinations[i]
		n := dead[d.ID]
		rows[i] = destinationRow{
			ID: d.ID, Name: d.ID, State: string(d.State), Undelivered: d.Undelivered.Number(), Oldest: d.Undelivered.Age(r.At),
			Retrying: d.Retrying.Number(), RetryAge: d.Retrying.Age(r.At), FailsWith: d.FailsWith(),
			Dead: n, DeadText: status.Backlog{Events: n, Bound: r.DeadLetters.Bound}.Number(), worth: worth(d, n),
		}
		if known, ok := w.Destination(d.ID); ok {
			rows[i].Name = known.Name
		}
	}
	return rows
}

// worth orders destinations by how much there is to say about them: what fails comes first.
func worth(d *status.Destination, dead int64) int {
	switch {
	case d.Retrying.Events > 0:
		return 4
	case dead > 0:
		return 3
	case !d.Quiet():
		return 2
	case d.State == status.Enabled:
		return 1
	}
	return 0
}

// destinationsView is one page of the list of destinations.
type destinationsView struct {
	progress
	pager

	Search string
	Only   string // "waiting": those alone for which there is something to say
	Rows   []destinationRow
	All    int // before the search
}

// destinations asks for the state of the pipeline, and shows some of its destinations.
func (c *Console) destinations(v *visit) (*content, error) {
	a := c.asked.status.Ask(v.Context(), struct{}{})
	view := destinationsView{progress: progressOf(&a, v.now), Search: v.text("q"), Only: v.text("only")}
	if a.Known() {
		view.fill(destinationRows(a.Value, c.Workspace.Load()), v.text("page"))
		view.link(v.URL)
	}
	return &content{title: "Destinations", again: again(&a, 0), view: view}, nil
}

func (d *destinationsView) fill(rows []destinationRow, number string) {
	d.All = len(rows)
	var found []destinationRow
	for i := range rows {
		if row := &rows[i]; holds(d.Search, row.ID, row.Name) && (d.Only != "waiting" || row.worth > 1) {
			found = append(found, *row)
		}
	}
	d.Rows, d.pager = paged(found, number)
}

// holds reports whether one of some texts holds another, in any case.
func holds(search string, texts ...string) bool {
	search = strings.ToLower(search)
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), search) {
			return true
		}
	}
	return false
}

// perPage is how many rows of a list are shown at once.
const perPage = 50

// pager says which page of a list is shown.
type pager struct {
	Found        int    // rows on all pages
	Number, Last int    // from 1
	Before, Next string // URLs of the pages beside it; empty: there is none
}

// link leads to the pages beside that of a URL.
func (p *pager) link(u *url.URL) {
	beside := func(number int) string {
		query := u.Query()
		query.Set("page", strconv.Itoa(number))
		return u.Path + "?" + query.Encode()
	}
	if p.Number > 1 {
		p.Before = beside(p.Number - 1)
	}
	if p.Number < p.Last {
		p.Next = beside(p.Number + 1)
	}
}

// paged returns the rows of a page; the nearest where there is none of that number.
func paged[R any](rows []R, number string) ([]R, pager) { return pagedBy(perPage, rows, number) }

func pagedBy[R any](each int, rows []R, number string) ([]R, pager) {
	p := pager{Found: len(rows), Last: max(1, (len(rows)+each-1)/each)}
	n, err := strconv.Atoi(number)
	if err != nil {
		n = 1
	}
	p.Number = min(max(n, 1), p.Last)
	from := (p.Number - 1) * each
	return rows[from:min(from+each, len(rows))], p
}
