package console

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/redrive"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// RedriveOf says which dead letters are sent again: one, or those that fulfil all of the
// fields that are set.
type RedriveOf struct {
	ID          string // as [deadletters.ParseID] reads it; empty: any
	Destination string
	Reason      schemas.Reason
	Since       time.Time // given up then or later
	Again       time.Time // also those that were redriven before then; zero: nothing twice
	Rate        int       // events a second; of a plan 1
}

// selection is what the command would be given.
func (of *RedriveOf) selection() (deadletters.Selection, error) {
	if of.ID == "" {
		s := deadletters.Selection{Destination: of.Destination, Reason: of.Reason, Since: of.Since}
		return s, s.Validate()
	}
	id, err := deadletters.ParseID(of.ID)
	return deadletters.Selection{IDs: []deadletters.ID{id}}, err
}

// words say for people which dead letters are meant.
func (of *RedriveOf) words() string {
	if of.ID != "" {
		return "dead letter " + of.ID
	}
	text := "dead letters"
	if of.Destination != "" {
		text += " of " + of.Destination
	}
	if of.Reason != "" {
		text += " with " + string(of.Reason)
	}
	return text + " since " + terminal.Moment(of.Since)
}

// redriveView is what a redrive would do, and the form that begins it.
type redriveView struct {
	progress
	permission
	pager

	What   string
	Plan   string // as the command prints it
	Fields map[string]string
	Rate   int
	Most   int
	Repeat string // URL of the plan with what was redriven before; empty: it is in it
}

const usualRate = 100

// redrive plans a redrive: it does nothing.
func (c *Console) redrive(v *visit) (*content, error) {
	of, err := redriveOf(v.URL.Query(), v.now)
	if err != nil {
		return nil, err
	}
	plan := of
	plan.Rate = 1
	a := c.asked.redrive.Ask(v.Context(), plan)
	view := redriveView{
		progress: progressOf(&a, v.now), permission: c.permits(v), What: of.words(), Rate: of.Rate, Most: redrive.MaxRate, Fields: of.fields(),
	}
	if of.Again.IsZero() {
		with := of
		with.Again = v.now
		view.Repeat = Path + "/redrive?" + with.query()
	}
	view.Plan, view.pager = pagedLines(a.Value, v.text("page"))
	view.link(&url.URL{Path: Path + "/redrive", RawQuery: of.query()})
	return &content{title: "Redrive", again: again(&a, 0), view: view}, nil
}

// fields are those of a form that means the same.
func (of *RedriveOf) fields() map[string]string {
	all := map[string]string{"id": of.ID, "destination": of.Destination, "reason": string(of.Reason)}
	if of.ID == "" {
		all["from"] = of.Since.Format(time.RFC3339Nano)
	}
	if !of.Again.IsZero() {
		all["again"] = of.Again.Format(time.RFC3339Nano)
	}
	for name, value := range all {
		if value == "" {
			delete(all, name)
		}
	}
	return all
}

func (of *RedriveOf) query() string {
	query := make(url.Values)
	for name, value := range of.fields() {
		query.Set(name, value)
	}
	return query.Encode()
}

// redriveOf reads a form, or a query: since is how long ago, and from a time.
func redriveOf(form url.Values, now time.Time) (of RedriveOf, err error) {
	of = RedriveOf{ID: form.Get("id"), Destination: form.Get("destination"), Reason: schemas.Reason(form.Get("reason")), Rate: usualRate}
	bad := func(err error) error { return &problem{http.StatusBadRequest, err.Error()} }
	if of.ID == "" {
		back := cmp.Or(form.Get("from"), form.Get("since"), backs()[0].Value)
		if of.Since, err = deadletters.ParseTime(back, now); err != nil {
			return of, bad(err)
		}
		if form.Get("from") == "" {
			of.Since = of.Since.Truncate(time.Minute) // so that who looks again asks the same
		}
	}
	if text := form.Get("again"); text != "" {
		if of.Again, err = deadletters.ParseTime(text, now); err != nil {
			return of, bad(err)
		}
	}
	if text := form.Get("rate"); text != "" {
		if of.Rate, err = strconv.Atoi(text); err != nil || of.Rate < 1 || of.Rate > redrive.MaxRate {
			return of, &problem{http.StatusBadRequest, "expected a whole number of events a second, 1 to " + strconv.Itoa(redrive.MaxRate)}
		}
	}
	if _, err = of.selection(); err != nil {
		return of, bad(err)
	}
	return of, nil
}

// beginRedrive sends the dead letters of a plan.
func (c *Console) beginRedrive(v *visit) (string, error) {
	of, err := redriveOf(v.PostForm, v.now)
	if err != nil {
		return "", err
	}
	id, err := c.jobs.Start(v.Context(), v.job("redrive", "redrive of "+of.words()+" at "+strconv.Itoa(of.Rate)+" a second"),
		func(ctx context.Context, say func(string)) (string, error) {
			return c.Questions.Redrive(ctx, of, false, say)
		})
	if err != nil {
		return "", &problem{http.StatusConflict, err.Error()}
	}
	return jobPath(id), nil
}

// lines passes on lines as they are written.
type lines func(string)

// Write implements [io.Writer].
func (say lines) Write(text []byte) (int, error) {
	say(strings.TrimSpace(string(text)))
	return len(text), nil
}
