package console

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/router/replay"
)

// replayView is one run, and what can be done about it.
type replayView struct {
	progress
	permission
	pager

	ID       string
	Row      runRow
	Done     int // percent of the range that is read
	Choice   []factView
	Asked    string
	Open     bool // it is not over
	Resting  bool // it is paused
	Rate     int
	Most     int
	Search   string // what the ids of Parts hold
	Find     bool   // there are more of them than on a page
	Parts    []partView
	Unwanted bool // it is cancelled, and its routers have not said so yet
}

// factView is a name and what it stands for.
type factView struct{ Name, Text string }

// partView is how far a run is with one destination.
type partView struct{ Destination, State, Sent, Left, Why string }

// replayPath is where the page of a run is.
func replayPath(id string) string { return Path + "/replay?id=" + url.QueryEscape(id) }

// replay shows how far a run is, and follows it.
func (c *Console) replay(v *visit) (*content, error) {
	view := replayView{ID: v.text("id"), Search: v.text("q"), permission: c.permits(v), Most: replay.MaxRate}
	a := c.asked.past.Ask(v.Context(), struct{}{})
	view.progress = progressOf(&a, v.now)
	shown := &content{title: "Replay " + view.ID, again: again(&a, 0)}
	if a.Known() {
		e := a.Value.run(view.ID)
		switch {
		case e != nil:
			view.fill(e, v.text("page"))
			view.link(v.URL)
			if goesOn(e) {
				shown.again = again(&a, 2*soon)
			}
		case !a.Asking: // one that was begun a moment ago may not be in an answer of before
			return nil, &problem{http.StatusNotFound, "there is no replay with the id " + terminal.Safe(view.ID)}
		}
	}
	shown.view = view
	return shown, nil
}

func (w *replayView) fill(e *replay.Entry, number string) {
	w.Row, w.Open, w.Rate = runRowOf(e), !e.Over() && e.Run.Wish != replay.Cancelled, e.Run.Rate
	w.Resting, w.Unwanted = e.Run.Wish == replay.Paused, e.Run.Wish == replay.Cancelled && !e.Over()
	s := replay.StatusOf(e)
	w.Done = int(s.Read * 100 / max(s.Total, 1))
	w.Asked = terminal.Moment(e.Run.CreatedAt)
	w.Choice = choiceFacts(&e.Run.Choice)
	w.Find = len(e.Run.Destinations) > perPage
	var found []string
	for _, id := range e.Run.Destinations {
		if holds(w.Search, id) {
			found = append(found, id)
		}
	}
	found, w.pager = paged(found, number)
	for _, id := range found {
		part := partView{Destination: id, State: "not begun", Sent: "0", Left: "-"}
		if p := e.Parts[id]; p != nil {
			part.State, part.Sent, part.Left, part.Why = string(p.State), terminal.Count(p.Sent), leftOut(p.Left), p.Note
		}
		if trouble := e.Claim.Trouble[id]; trouble != "" {
			part.Why = strings.TrimPrefix(part.Why+"; "+trouble, "; ")
		}
		w.Parts = append(w.Parts, part)
	}
}

// choiceFacts are the fields of a choice that are set.
func choiceFacts(c *replay.Choice) (facts []factView) {
	for _, f := range []factView{{"Source", c.Source}, {"Destination", c.Destination}, {"Type", string(c.Type)}, {"Event", c.Event}, {"User", c.User}} {
		if f.Text != "" {
			facts = append(facts, f)
		}
	}
	if c.Missing {
		facts = append(facts, factView{"Only", "what a destination was not sent then"})
	}
	return facts
}

// leftOut says how many events are not sent, and why, the most first.
func leftOut(left map[replay.Reason]int64) string {
	all := slices.SortedFunc(maps.Keys(left), func(a, b replay.Reason) int {
		if left[a] != left[b] {
			return int(left[b] - left[a])
		}
		return strings.Compare(string(a), string(b))
	})
	texts := make([]string, len(all))
	for i, reason := range all {
		texts[i] = terminal.Count(left[reason]) + " " + string(reason)
	}
	if len(texts) == 0 {
		return "-"
	}
	return strings.Join(texts, ", ")
}

// ReplayChange is what is wanted of a run from now on.
type ReplayChange struct {
	Wish replay.Wish // empty: as before
	Rate int         // events a second to each destination; 0: as before
}

// changeOf reads the form of a change. Its word is for the log.
func changeOf(form url.Values) (change ReplayChange, what string, err error) {
	switch do := form.Get("do"); do {
	case "pause":
		return ReplayChange{Wish: replay.Paused}, "pause of replay ", nil
	case "resume":
		return ReplayChange{Wish: replay.Running}, "resumption of replay ", nil
	case "cancel":
		return ReplayChange{Wish: replay.Cancelled}, "end of replay ", nil
	case "rate":
		change.Rate, err = rateOf(form.Get("rate"))
		return change, "rate of " + strconv.Itoa(change.Rate) + " events/s for replay ", err
	default:
		return change, "", &problem{http.StatusBadRequest, "expected one of pause, resume, cancel and rate"}
	}
}

func rateOf(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > replay.MaxRate {
		return 0, &problem{http.StatusBadRequest, "expected a whole number of events a second, 1 to " + terminal.Count(replay.MaxRate)}
	}
	return n, nil
}

// steerReplay has something else wanted of a run.
func (c *Console) steerReplay(v *visit) (string, error) {
	id := v.PostFormValue("id")
	change, what, err := changeOf(v.PostForm)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(v.Context(), quick)
	defer cancel()
	if err = c.Questions.SteerReplay(ctx, id, change); err != nil {
		return "", err
	}
	c.Logger.Info("console: done", "what", what+id, "person", v.who.Name)
	c.asked.past.Outdate(struct{}{})
	return replayPath(id), nil
}
