package console

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/deadletters/listing"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/router/replay"
	"github.com/anabranch/anabranch/schemas"
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
	permission

	MessageID, User, Since string
	Only                   string // what the ids of destinations hold that are shown
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
	Stored             string // URL of the call as it is stored; empty: it is not
	Sent               string // what endpoints are sent, if one of them has answered; empty: not known
	Destinations       []outcomeView
	More               string // what became of it at the others; empty: there are none
}

// outcomeView is what became of a call at a destination, or, without an id, as a whole.
type outcomeView struct {
	ID, Verdict string
	Tone        string // in which it is shown: good, bad, open; empty: neither
	Moments     []momentView
	Letters     []string       // ids of dead letters
	Answers     []failedAnswer // of endpoints, as far as this process has them
	Again       string         // URL of what sending it once more would do; empty: it can't be
	Remarks     []string
}

// momentView is something that happened at a time.
type momentView struct{ At, Text string }

// event traces calls.
func (c *Console) event(v *visit) (*content, error) {
	view := eventView{MessageID: v.text("id"), User: v.text("user"), Only: v.text("destination"), Backs: backs(), permission: c.permits(v)}
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
	when := again(&a, 0)
	if a.Known() {
		view.fill(a.Value, c.Workspace.Load())
		for i := range view.Calls {
			if c.answer(&view.Calls[i], view.MessageID) {
				when = max(when, c.sent(v, &view.Calls[i], &a.Value.Calls[i]))
			}
		}
	}
	return &content{title: "Event " + view.MessageID, again: when, view: view}, nil
}

// answer adds what endpoints answered to the attempts that failed, and reports whether any did.
func (c *Console) answer(call *callView, messageID string) (answered bool) {
	w := c.Workspace.Load()
	for i := range call.Destinations {
		at := &call.Destinations[i]
		if d, known := w.Destination(at.ID); known {
			at.Answers = c.failedOf(d).to(messageID)
			answered = answered || len(at.Answers) > 0
		}
	}
	return answered
}

// sent adds what they were sent, and returns when to look again if that is not known yet.
func (c *Console) sent(v *visit, call *callView, of *messagetrace.Call) time.Duration {
	at, stored := placeOf(of)
	if !stored {
		return 0
	}
	a := c.asked.call.Ask(v.Context(), CallAt{at.Partition, at.Offset})
	if !a.Known() {
		return again(&a, 0)
	}
	call.Sent = listing.Pretty(a.Value.Value, len(a.Value.Value))
	return 0
}

func (e *eventView) fill(t *messagetrace.Trace, w *workspace.Snapshot) {
	e.Remarks, e.Searched = t.Remarks(), t.Searched.Text()
	for i := range t.Calls {
		e.Calls = append(e.Calls, callOf(&t.Calls[i], e.Only, w))
	}
}

func callOf(c *messagetrace.Call, only string, w *workspace.Snapshot) callView {
	view := callView{
		What: c.What(), Source: c.Source, User: c.User, Violations: c.Violations, Remarks: c.Notes,
		Moments: []momentView{{c.ReceivedAt.UTC().Format(clock), c.Came()}},
	}
	if at, stored := placeOf(c); stored {
		view.Stored = Path + "/call?at=" + strconv.Itoa(int(at.Partition)) + "-" + strconv.FormatInt(at.Offset, 10)
	}
	if c.RoutedAt != nil {
		view.Moments = append(view.Moments, momentView{c.RoutedAt.UTC().Format(clock), c.Routing()})
	}
	shown, more := foremost(c.Destinations, only)
	for _, d := range shown {
		outcome := outcomeOf(d)
		outcome.Again = againTo(c, outcome.ID, w)
		view.Destinations = append(view.Destinations, outcome)
	}
	view.More = more
	return view
}

// foremost are the outcomes at destinations whose ids hold a text; where there are too many for
// a page, those that have not come to a good end first. What became of the call at the others
// is said by number.
func foremost(all []messagetrace.Destination, only string) (shown []*messagetrace.Destination, more string) {
	for i := range all {
		if holds(only, all[i].ID) {
			shown = append(shown, &all[i])
		}
	}
	if len(shown) <= perPage {
		return shown, ""
	}
	slices.SortStableFunc(shown, func(a, b *messagetrace.Destination) int { return cmp.Compare(rank(a.Outcome), rank(b.Outcome)) })
	counts := make(map[string]int64)
	for _, d := range shown[perPage:] {
		counts[string(d.Outcome)]++
	}
	texts := make([]string, 0, len(counts))
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		texts = append(texts, terminal.Count(counts[outcome])+" "+outcome)
	}
	return shown[:perPage], strings.Join(texts, ", ")
}

// rank orders outcomes by how much there is to do about them, the most first.
func rank(o messagetrace.Outcome) int {
	order := []messagetrace.Outcome{messagetrace.Dead, messagetrace.Waiting, messagetrace.Unknown, messagetrace.Delivered}
	if i := slices.Index(order, o); i >= 0 {
		return i
	}
	return len(order)
}

// againTo is where it is planned to send a call to a destination once more; empty: there is
// nothing to send, or nobody who receives it.
func againTo(c *messagetrace.Call, id string, w *workspace.Snapshot) string {
	d, known := w.Destination(id)
	at, stored := placeOf(c)
	if !stored || !known || !d.Enabled || !d.Is(workspace.TypeWebhooks) {
		return ""
	}
	at.At = c.ReceivedAt.UTC()
	of := ReplayOf{One: at, Choice: replay.Choice{Destination: id}}
	if c.Source == workspace.SourcePersonas { // replays leave its calls out unless they are asked for
		of.Choice.Source = c.Source
	}
	query := make(url.Values)
	for name, value := range of.fields() {
		query.Set(name, value)
	}
	return Path + "/replay/plan?" + query.Encode()
}

// placeOf is where a call stands on raw-events; false: it does not.
func placeOf(c *messagetrace.Call) (at EventAt, stored bool) {
	_, err := fmt.Sscanf(c.Record, schemas.TopicRawEvents+"[%d]@%d", &at.Partition, &at.Offset)
	return at, err == nil
}

// tone is that of an outcome: what is well, what is not, and what is still to come.
func tone(o messagetrace.Outcome) string {
	switch o {
	case messagetrace.Delivered:
		return "good"
	case messagetrace.Dead:
		return "bad"
	case messagetrace.Waiting:
		return "open"
	default:
		return ""
	}
}

func outcomeOf(d *messagetrace.Destination) outcomeView {
	view := outcomeView{ID: d.ID, Verdict: d.Verdict(), Tone: tone(d.Outcome), Remarks: d.Remarks()}
	for _, m := range d.History() {
		view.Moments = append(view.Moments, momentView{m.At.UTC().Format(clock), m.Text})
	}
	for _, l := range d.DeadLetters {
		view.Letters = append(view.Letters, l.ID)
	}
	return view
}
