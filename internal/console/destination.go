package console

import (
	"net/http"
	"slices"

	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
)

// destinationView is all that is known of one destination.
type destinationView struct {
	progress
	permission

	ID      string
	Row     destinationRow
	InForce *destinationInForce // nil: it is not in the workspace
	Waiting []endpointView      // endpoints to which retries are to go
	Replay  string              // how many events of replays wait; empty: none
	Export  string              // the topic that the destination is, and what it holds; empty: it is none
	Failing string              // since when; empty: nothing fails
	Held    string              // how many events are held back while endpoints are down; empty: none
	Reasons []reasonView
	Busy    []busyView
	Due     []bar // retries by when they are due
	Dead    []deadView
	Advice  []status.Advice
	Test    *testForm   // nil: it is not sent webhooks
	Failed  *failedView // nil: the same
	Fare    *fareView   // nil: the same
}

// destinationInForce is a destination as the workspace has it, without secrets.
type destinationInForce struct {
	Name, Type string
	Enabled    bool
	Pausable   bool
	Paused     string // since when, and by whom; empty: it is delivered to
	Sources    []string
	Signed     string
	Endpoints  []string // without user and query, with the names of headers
}

type endpointView struct{ URL, Events string }

type reasonView struct{ Reason, Events, Detail string }

type busyView struct {
	Partition int32
	Users     int
	Events    string
}

// deadView are the dead letters of a destination with one reason.
type deadView struct {
	Destination, Reason, Events, Redriven, First, Last, Detail string
}

// destination asks for the state of the pipeline, and shows one of its destinations.
func (c *Console) destination(v *visit) (*content, error) {
	view := destinationView{ID: v.text("id"), permission: c.permits(v)}
	if view.ID == "" {
		return nil, &problem{http.StatusBadRequest, "expected the id of a destination"}
	}
	w := c.Workspace.Load()
	a := c.asked.status.Ask(v.Context(), struct{}{})
	view.progress = progressOf(&a, v.now)
	view.InForce = inForce(w, view.ID)
	if d, known := w.Destination(view.ID); known {
		view.Test, view.Failed, view.Fare = c.testFormOf(v, d), c.failedOf(d), c.fareOf(d, v.now)
	}
	if a.Known() && !view.fill(a.Value, w) && view.InForce == nil {
		return nil, &problem{http.StatusNotFound, "no destination is called " + terminal.Safe(view.ID)}
	}
	return &content{title: "Destination " + view.ID, again: again(&a, 0), view: view}, nil
}

// inForce is a destination of the workspace; nil: it has none of that id.
func inForce(w *workspace.Snapshot, id string) *destinationInForce {
	d, known := w.Destination(id)
	if !known {
		return nil
	}
	view := &destinationInForce{Name: d.Name, Type: d.Type, Enabled: d.Enabled, Sources: d.Sources, Signed: "no"}
	view.Pausable = d.Unpausable() == ""
	if p, paused := w.Paused(id); paused {
		view.Paused = p.String()
	}
	if d.SharedSecret != "" {
		view.Signed = "yes, with a shared secret"
	}
	for _, e := range d.Endpoints {
		view.Endpoints = append(view.Endpoints, e.String())
	}
	return view
}

// fill shows what a report says of the destination; false: nothing.
func (d *destinationView) fill(r *status.Report, w *workspace.Snapshot) bool {
	d.Dead = deadViews(r, func(g *status.DeadGroup) bool { return g.Destination == d.ID })
	for _, a := range r.Advice {
		if a.About == d.ID {
			d.Advice = append(d.Advice, a)
		}
	}
	i := slices.IndexFunc(r.Destinations, func(one status.Destination) bool { return one.ID == d.ID })
	if i < 0 {
		return len(d.Dead) > 0
	}
	found := &r.Destinations[i]
	d.Row = destinationRows(&status.Report{At: r.At, Destinations: r.Destinations[i : i+1], DeadLetters: r.DeadLetters}, w)[0]
	for _, e := range found.Endpoints {
		d.Waiting = append(d.Waiting, endpointView{e.URL, terminal.Count(e.Events)})
	}
	if found.Replaying.Events > 0 {
		d.Replay = found.Replaying.Number()
	}
	if e := found.Export; e != nil {
		d.Export = e.Topic + ", " + terminal.Count(int64(e.Partitions)) + " partitions, which hold " + status.Backlog{Events: e.Events, Bound: status.AtMost}.Number() + " events"
	}
	if found.FailingSince != nil {
		d.Failing = terminal.Moment(*found.FailingSince)
	}
	if found.Withheld > 0 {
		d.Held = terminal.Count(found.Withheld)
	}
	for _, f := range found.Failures {
		d.Reasons = append(d.Reasons, reasonView{string(f.Reason), terminal.Count(f.Events), f.Detail})
	}
	d.Due = dueBars(found.Due)
	for _, b := range found.Busy {
		d.Busy = append(d.Busy, busyView{b.Partition, b.Keys, terminal.Count(b.Events)})
	}
	return true
}

// dueBars are retries by when they are due.
func dueBars(due []status.Due) (bars []bar) {
	most := int64(1)
	for _, d := range due {
		most = max(most, d.Events)
	}
	for i, d := range due {
		name := "up to " + d.Within
		switch {
		case i == 0:
			name = "now"
		case d.Within == "":
			name = "later"
		}
		width := int(d.Events * 100 / most)
		if d.Events > 0 {
			width = max(width, 1)
		}
		bars = append(bars, bar{Name: name, Value: d.Events, Text: terminal.Count(d.Events), Width: width})
	}
	return bars
}

// deadViews are those groups of dead letters that are wanted.
func deadViews(r *status.Report, wanted func(*status.DeadGroup) bool) (views []deadView) {
	for i := range r.DeadLetters.Groups {
		g := &r.DeadLetters.Groups[i]
		if wanted(g) {
			views = append(views, deadView{
				Destination: g.Destination, Reason: string(g.Reason), Detail: g.Detail,
				Events:   status.Backlog{Events: g.Events, Bound: r.DeadLetters.Bound}.Number(),
				Redriven: terminal.Count(g.Redriven), First: terminal.Moment(g.First), Last: terminal.Moment(g.Last),
			})
		}
	}
	return views
}
