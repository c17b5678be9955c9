package console

import (
	"net/http"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/messagetrace"
)

// CallOf says which calls are meant: those with a messageId, taken so long ago at most.
type CallOf struct {
	MessageID string
	User      string // who made it; empty: not known
	Back      time.Duration
}

func (of *CallOf) query(now time.Time) messagetrace.Query {
	return messagetrace.Query{MessageID: of.MessageID, User: of.User, Since: ago(now, of.Back), Until: now.Add(time.Minute)}
}

// eventView is what became of the calls with a messageId.
type eventView struct {
	progress

	MessageID, User, Since string
	Backs                  []option
	Calls                  []callView
	Remarks                []string
	Searched               string
}

// callView is one call, as it came and what became of it.
type callView struct {
	What, Source, User string
	Moments            []momentView // from the API to the router
	Violations         []messagetrace.Violation
	Remarks            []string
	Destinations       []outcomeView
}

// outcomeView is what became of a call at a destination, or, without an id, as a whole.
type outcomeView struct {
	ID, Verdict string
	Moments     []momentView
	Letters     []string // ids of dead letters
	Remarks     []string
}

// momentView is something that happened at a time.
type momentView struct{ At, Text string }

// event traces calls.
func (c *Console) event(v *visit) (*content, error) {
	view := eventView{MessageID: v.text("id"), User: v.text("user"), Backs: backs()}
	of := CallOf{MessageID: view.MessageID, User: view.User}
	var err error
	if view.Since, of.Back, err = v.back(); err != nil {
		return nil, err
	}
	switch {
	case of.MessageID == "":
		return nil, &problem{http.StatusBadRequest, "expected the messageId of a call"}
	case len(of.MessageID) > maxSearch || len(of.User) > maxSearch:
		return nil, &problem{http.StatusBadRequest, "the messageId or the user has more than " + strconv.Itoa(maxSearch) + " bytes"}
	}
	a := c.asked.trace.Ask(v.Context(), of)
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.fill(a.Value)
	}
	return &content{title: "Event " + view.MessageID, again: again(&a, 0), view: view}, nil
}

func (e *eventView) fill(t *messagetrace.Trace) {
	e.Remarks, e.Searched = t.Remarks(), t.Searched.Text()
	for i := range t.Calls {
		e.Calls = append(e.Calls, callOf(&t.Calls[i]))
	}
}

func callOf(c *messagetrace.Call) callView {
	view := callView{
		What: c.What(), Source: c.Source, User: c.User, Violations: c.Violations, Remarks: c.Notes,
		Moments: []momentView{{c.ReceivedAt.UTC().Format(clock), c.Came()}},
	}
	if c.RoutedAt != nil {
		view.Moments = append(view.Moments, momentView{c.RoutedAt.UTC().Format(clock), c.Routing()})
	}
	for i := range c.Destinations {
		view.Destinations = append(view.Destinations, outcomeOf(&c.Destinations[i]))
	}
	return view
}

func outcomeOf(d *messagetrace.Destination) outcomeView {
	view := outcomeView{ID: d.ID, Verdict: d.Verdict(), Remarks: d.Remarks()}
	for _, m := range d.History() {
		view.Moments = append(view.Moments, momentView{m.At.UTC().Format(clock), m.Text})
	}
	for _, l := range d.DeadLetters {
		view.Letters = append(view.Letters, l.ID)
	}
	return view
}
