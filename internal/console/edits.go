package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
	"github.com/anabranch/anabranch/personas/ask"
)

// printed is what a command prints.
func printed[T any](by func(io.Writer, T) error, value T) (string, error) {
	var text strings.Builder
	err := by(&text, value)
	return text.String(), err
}

// previewView is what an edit would change, and the form to write it in.
type previewView struct {
	progress

	Written string
	Most    int
	Wrong   string // what is wrong with it
	Changes string // as the command prints them
}

// maxWritten bounds what is written in the form, in bytes: it is in the query, so that the
// page can be looked at once more, and requests are bounded.
const maxWritten = 4000

// preview shows what definitions would change that are not in force.
func (c *Console) preview(v *visit) (*content, error) {
	view := previewView{Written: strings.ReplaceAll(v.text("written"), "\r\n", "\n"), Most: maxWritten}
	shown := &content{title: "Preview of an edit"}
	if key := v.text("key"); key != "" && view.Written == "" {
		w := ask.Of(c.Workspace.Load())
		inForce, err := ask.VersionOf(&w, key, 0)
		if err != nil {
			return nil, &problem{http.StatusNotFound, err.Error()}
		}
		if view.Written, err = printed(ask.PrintVersion, inForce); err != nil {
			return nil, err
		}
		shown.view = view
		return shown, nil
	}
	err := view.read(c)
	if err != nil || view.Wrong != "" || view.Written == "" {
		shown.view = view
		return shown, err
	}
	a := c.asked.personas.preview.Ask(v.Context(), view.Written)
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.Changes, err = printed(ask.PrintPreview, a.Value)
	}
	shown.again, shown.view = again(&a, 0), view
	return shown, err
}

// read says what is wrong with what was written.
func (p *previewView) read(c *Console) error {
	switch {
	case p.Written == "":
		return nil
	case len(p.Written) > maxWritten:
		return &problem{http.StatusBadRequest, "what was written has more than " + strconv.Itoa(maxWritten) + " bytes: put it into a workspace file, and use `anabranch personas preview`"}
	}
	_, err := wsfile.Edit([]byte(p.Written), c.Workspace.Load())
	if wrong, ok := errors.AsType[*wsfile.Error](err); ok {
		p.Wrong = wrong.Error()
		return nil
	}
	return err
}

// checkView is whether what was told is right.
type checkView struct {
	progress

	Asked   bool
	Verdict string // as the command prints it
	Wrong   string // how many differences there are; empty: none
}

// check has all users computed once more, where that is asked for.
func (c *Console) check(v *visit) (*content, error) {
	view := checkView{Asked: v.text("run") != ""}
	shown := &content{title: "Check of what was told"}
	if !view.Asked {
		shown.view = view
		return shown, nil
	}
	a := c.asked.personas.check.Ask(v.Context(), struct{}{})
	view.progress = progressOf(&a, v.now)
	var err error
	if a.Known() {
		if view.Verdict, err = printed(ask.PrintVerdict, a.Value); a.Value.Differences > 0 {
			view.Wrong = terminal.Count(a.Value.Differences)
		}
	}
	shown.again, shown.view = again(&a, 0), view
	return shown, err
}

// resyncView is what a resync would do, and the form that begins it.
type resyncView struct {
	progress
	permission

	Key, Destination string
	Plan             string // as the command prints it
	Rate, Most       int
}

// resync plans a resync: it tells nobody.
func (c *Console) resync(v *visit) (*content, error) {
	of, err := resyncOf(v.URL.Query())
	if err != nil {
		return nil, err
	}
	view := resyncView{permission: c.permits(v), Key: of.Key, Destination: of.Destination, Rate: of.Rate, Most: ask.MaxRate}
	of.DryRun = true
	a := c.asked.personas.resync.Ask(v.Context(), of)
	view.progress, view.Plan = progressOf(&a, v.now), a.Value
	return &content{title: "Resync", again: again(&a, 0), view: view}, nil
}

// resyncOf reads a form, or a query.
func resyncOf(form url.Values) (of ask.Resyncing, err error) {
	of = ask.Resyncing{Key: form.Get("key"), Destination: form.Get("destination"), Rate: usualRate}
	if of.Key == "" || of.Destination == "" || len(of.Key) > maxSearch || len(of.Destination) > maxSearch {
		return of, &problem{http.StatusBadRequest, "expected the key of an audience or a computed trait, and the id of a destination"}
	}
	if text := form.Get("rate"); text != "" {
		if of.Rate, err = strconv.Atoi(text); err != nil || of.Rate < 1 || of.Rate > ask.MaxRate {
			return of, &problem{http.StatusBadRequest, "expected a whole number of users a second, 1 to " + strconv.Itoa(ask.MaxRate)}
		}
	}
	return of, nil
}

// beginResync has a destination told once more.
func (c *Console) beginResync(v *visit) (string, error) {
	of, err := resyncOf(v.PostForm)
	if err != nil {
		return "", err
	}
	what := "resync of " + of.Key + " to " + of.Destination
	id, err := c.jobs.Start(v.Context(), v.job(what, what+" at "+strconv.Itoa(of.Rate)+" a second"),
		func(ctx context.Context, say func(string)) (string, error) {
			return c.Questions.Personas.Resync(ctx, of, say)
		})
	if err != nil {
		return "", &problem{http.StatusConflict, err.Error()}
	}
	return jobPath(id), nil
}
