package console

import (
	"slices"
	"strconv"

	"github.com/anabranch/anabranch/ingest/imports"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/router/replay"
)

// Past is what is known of events of the past: the runs that send some once more, the first
// made first, and the imports, the first begun first.
type Past struct {
	Runs    []*replay.Entry
	Imports []imports.Listed
}

// run returns that of an id; nil: there is none.
func (p *Past) run(id string) *replay.Entry {
	for _, e := range p.Runs {
		if e.Run.ID == id {
			return e
		}
	}
	return nil
}

// replaysView is one page of the runs, the last one first, the imports, and the form of a plan.
type replaysView struct {
	progress
	pager

	Rows    []runRow
	Imports []importRow
	Form    planForm
}

// runRow is a run in the list.
type runRow struct {
	ID, State, Read, Sent, Left, Remaining, Received, Destinations string
	Rate                                                           string
}

type importRow struct {
	File, Source, State, Rows, Refused, Began, Heard string
}

// replays lists runs and imports.
func (c *Console) replays(v *visit) (*content, error) {
	view := replaysView{Form: formOf(&ReplayOf{Rate: replay.UsualRate})}
	a := c.asked.past.Ask(v.Context(), struct{}{})
	view.progress = progressOf(&a, v.now)
	shown := &content{title: "Replays and imports", again: again(&a, 0)}
	if a.Known() {
		view.fill(a.Value, v.text("page"))
		view.link(v.URL)
		if slices.ContainsFunc(a.Value.Runs, goesOn) || slices.ContainsFunc(a.Value.Imports, func(e imports.Listed) bool { return !e.Done }) {
			shown.again = again(&a, byAndBy)
		}
	}
	shown.view = view
	return shown, nil
}

// goesOn reports whether more is to be heard of a run soon.
func goesOn(e *replay.Entry) bool { return !e.Over() && e.Run.Wish != replay.Paused }

func (w *replaysView) fill(past *Past, number string) {
	var rows []runRow
	for _, e := range slices.Backward(past.Runs) {
		rows = append(rows, runRowOf(e))
	}
	w.Rows, w.pager = paged(rows, number)
	for _, e := range slices.Backward(past.Imports) {
		if len(w.Imports) == perPage {
			break
		}
		state := "under way or interrupted"
		if e.Done {
			state = "done"
		}
		w.Imports = append(w.Imports, importRow{
			File: e.File, Source: e.Source, State: state, Rows: terminal.Count(e.Rows), Refused: terminal.Count(e.Refused),
			Began: terminal.Moment(e.StartedAt), Heard: terminal.Moment(e.UpdatedAt),
		})
	}
}

func runRowOf(e *replay.Entry) runRow {
	s := replay.StatusOf(e)
	left := int64(0)
	for _, n := range s.Left {
		left += n
	}
	return runRow{
		ID: s.ID, State: s.State, Read: share(s.Read, s.Total), Sent: terminal.Count(s.Sent), Left: terminal.Count(left), Rate: strconv.Itoa(e.Run.Rate),
		Remaining: remaining(e), Received: received(&e.Run), Destinations: few(e.Run.Destinations),
	}
}

// share is how much of something is done, in percent.
func share(done, of int64) string {
	if of == 0 {
		return "100%"
	}
	return strconv.FormatInt(done*100/of, 10) + "%"
}

// remaining is about how long a run will take; "-" where nobody knows.
func remaining(e *replay.Entry) string {
	if d, ok := e.Remaining(); ok && e.State() == string(replay.Running) {
		return terminal.Brief(d)
	}
	return "-"
}

// received says when the events of a run were received.
func received(r *replay.Run) string {
	from := "the first event"
	if !r.From.IsZero() {
		from = terminal.Moment(r.From)
	}
	return from + " to " + terminal.Moment(r.To)
}
