package console

import (
	"net/http"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// EventsOf says which events are listed: those of a destination, of a reason, of both, or of
// a user.
type EventsOf struct {
	Destination string
	Reason      schemas.Reason
	User        string
	Last        int
	Back        time.Duration
}

func (of *EventsOf) selection(now time.Time) messagetrace.Selection {
	return messagetrace.Selection{Destination: of.Destination, Reason: of.Reason, User: of.User, Last: of.Last, Since: ago(now, of.Back)}
}

// eventsView is the newest events of a user, of a destination or of a reason.
type eventsView struct {
	progress
	pager

	Asked                     bool // whether anything is asked for
	User, Destination, Reason string
	Since, Most               string
	Reasons, Backs, Lasts     []option
	Rows                      []eventRow
}

// eventRow is an event in the list.
type eventRow struct {
	At, MessageID, Source, Type, User, Destination, Verdict, Reason string
	Attempts                                                        int
	Took                                                            string
}

func lasts() []option {
	return []option{{"50", "50 at most"}, {"200", "200 at most"}, {"1000", "1,000 at most"}}
}

// events lists events, of which each leads to its trace.
func (c *Console) events(v *visit) (*content, error) {
	view := eventsView{User: v.text("user"), Destination: v.text("destination"), Reasons: reasons(), Backs: backs(), Lasts: lasts()}
	of := EventsOf{User: view.User, Destination: view.Destination}
	err := view.choose(v, &of)
	view.Asked = of.User != "" || of.Destination != "" || of.Reason != ""
	if err != nil || !view.Asked {
		return &content{title: "Events", view: view}, err
	}
	a := c.asked.events.Ask(v.Context(), of)
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.fill(a.Value, v.text("page"))
		view.link(v.URL)
	}
	return &content{title: "Events", again: again(&a, 0), view: view}, nil
}

// choose reads the fields of the query, and reports what does not go together.
func (e *eventsView) choose(v *visit, of *EventsOf) (err error) {
	if e.Since, of.Back, err = v.back(); err != nil {
		return err
	}
	if e.Reason, err = v.choice("reason", e.Reasons); err != nil {
		return err
	}
	if e.Most, err = v.choice("last", e.Lasts); err != nil {
		return err
	}
	of.Reason = schemas.Reason(e.Reason)
	if of.Last, err = strconv.Atoi(e.Most); err != nil {
		return err
	}
	selected := deadletters.Selection{Destination: of.Destination, Reason: of.Reason}
	switch err = selected.Validate(); {
	case err != nil:
		return &problem{http.StatusBadRequest, err.Error()}
	case of.User != "" && (of.Destination != "" || of.Reason != ""):
		return &problem{http.StatusBadRequest, "expected either a user, or a destination and a reason, found both"}
	case len(of.User) > maxSearch:
		return &problem{http.StatusBadRequest, "the user has more than " + strconv.Itoa(maxSearch) + " bytes"}
	}
	return nil
}

func (e *eventsView) fill(found []messagetrace.Event, number string) {
	found, e.pager = paged(found, number)
	for i := range found {
		one := &found[i]
		row := eventRow{
			At: one.At.UTC().Format(clock), MessageID: one.MessageID, Source: one.Source, Type: string(one.Type), User: one.User,
			Destination: one.Destination, Verdict: one.Verdict, Reason: string(one.Reason), Attempts: one.Attempts,
		}
		if one.Attempts > 0 {
			row.Took = terminal.Count(one.MS) + " ms"
		}
		e.Rows = append(e.Rows, row)
	}
}

// clock is how times are written where milliseconds matter: UTC.
const clock = "2006-01-02 15:04:05.000Z"
