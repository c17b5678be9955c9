package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// ViolationsOf says which violations of tracking plans are counted.
type ViolationsOf struct {
	Source string // empty: those of all sources
	Back   time.Duration
}

// Violations are what was counted.
type Violations struct {
	*messagetrace.Violations

	Cut bool // whether time ran out before all was read
}

func (b *Brokers) violations(ctx context.Context, of ViolationsOf, say func(string)) (*Violations, error) {
	timed, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	now := time.Now()
	found, err := messagetrace.FindViolations(timed, b.calls(say), messagetrace.ViolationsOf{Source: of.Source, Since: ago(now, of.Back), Until: now.Add(time.Minute)})
	cut := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if cut {
		err = nil
	}
	return &Violations{found, cut}, err
}

// violationsView is how often which rule of a tracking plan was violated.
type violationsView struct {
	progress
	pager

	Source, Since, Search string
	Sources, Backs        []option
	Summary               string
	Cut                   bool
	Others                string // violations that are not in the list; empty: none
	Notes                 []string
	Rows                  []violationRow
}

// violationRow is a rule.
type violationRow struct {
	Source, Type, Event, Rule, Marked, Blocked, First, Last string
	Samples                                                 []sampleRow
}

type sampleRow struct{ MessageID, User, At, Letter string }

// violations counts what tracking plans had against calls.
func (c *Console) violations(v *visit) (*content, error) {
	view := violationsView{Source: v.text("source"), Search: v.text("q"), Sources: []option{{"", "all sources"}}, Backs: backs()}
	for _, s := range c.Workspace.Load().Sources() {
		view.Sources = append(view.Sources, option{s.ID, s.ID})
	}
	if view.Source != "" && !schemas.ValidID(view.Source) {
		return nil, &problem{http.StatusBadRequest, "expected the id of a source: lower-case letters, digits and hyphens"}
	}
	if gone := (option{view.Source, view.Source}); view.Source != "" && !slices.Contains(view.Sources, gone) {
		view.Sources = append(view.Sources, gone)
	}
	of := ViolationsOf{Source: view.Source}
	var err error
	if view.Since, of.Back, err = v.back(); err != nil {
		return nil, err
	}
	a := c.asked.workspace.violations.Ask(v.Context(), of)
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.fill(a.Value, v.text("page"))
		view.link(v.URL)
	}
	return &content{title: "Violations of tracking plans", again: again(&a, 0), view: view}, nil
}

func (w *violationsView) fill(found *Violations, number string) {
	w.Summary, w.Cut, w.Notes = found.Summary(), found.Cut, found.Notes
	if found.Others > 0 {
		w.Others = terminal.Count(found.Others)
	}
	var rules []messagetrace.Rule
	for i := range found.Rules {
		if r := &found.Rules[i]; holds(w.Search, r.Source, r.Event, r.Text()) {
			rules = append(rules, *r)
		}
	}
	rules, w.pager = paged(rules, number)
	for i := range rules {
		r := &rules[i]
		row := violationRow{
			Source: r.Source, Type: string(r.Type), Event: r.Event, Rule: r.Text(), Marked: terminal.Count(r.Marked), Blocked: terminal.Count(r.Blocked),
			First: terminal.Moment(r.First), Last: terminal.Moment(r.Last),
		}
		for _, s := range r.Samples {
			row.Samples = append(row.Samples, sampleRow{s.MessageID, s.User, terminal.Moment(s.At), s.DeadLetter})
		}
		w.Rows = append(w.Rows, row)
	}
}
