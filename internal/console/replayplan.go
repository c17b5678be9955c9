package console

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/router/replay"
	"github.com/anabranch/anabranch/schemas"
)

// ReplayOf says what is sent once more: what was received in a time and was chosen, or one
// event.
type ReplayOf struct {
	From, To time.Time // receipt; From may be zero: from the first event
	Choice   replay.Choice
	Rate     int // events a second to each destination; of a plan 1
	One      EventAt
}

// EventAt is the place of one event in raw-events, and when it was received; the zero value is
// none.
type EventAt struct {
	Partition int32
	Offset    int64
	At        time.Time
}

// planForm is the form of a plan, filled in.
type planForm struct {
	From, To, Source, Destination, Type, Event, User string
	Missing                                          bool
	Rate                                             int
	Types                                            []option
}

// replayPlanView is what a run would do, and the form that begins it.
type replayPlanView struct {
	progress
	permission
	pager

	Form     planForm
	One      string // the event, where it is one alone
	Choice   []factView
	Received string
	Events   string // that were received then
	Span     string // from the first to the last that would be sent
	Takes    string
	Sum      string // how many would be sent in all
	Rows     []expectedView
	Doubt    string // what the difference can't say; empty: it says all
	Nothing  bool   // to be sent
	Fields   map[string]string
	Most     int
}

// expectedView is what a run would do at one destination.
type expectedView struct{ Destination, Send, Types, Left, Missing, Again, Gone, Unknown string }

// planReplay says what a run would do: it does nothing.
func (c *Console) planReplay(v *visit) (*content, error) {
	of, err := replayOf(v.URL.Query(), v.now)
	if err != nil {
		return nil, err
	}
	plan := of
	plan.Rate = 1
	a := c.asked.forecast.Ask(v.Context(), plan)
	view := replayPlanView{
		progress: progressOf(&a, v.now), permission: c.permits(v), Form: formOf(&of), Choice: choiceFacts(&of.Choice), Fields: of.fields(), Most: replay.MaxRate,
	}
	if of.One != (EventAt{}) {
		view.One = fmt.Sprintf("%s[%d]@%d", schemas.TopicRawEvents, of.One.Partition, of.One.Offset)
	}
	if a.Known() {
		view.fill(a.Value, of.Rate, v.text("page"))
		view.link(of.pinned())
	}
	return &content{title: "Plan of a replay", again: again(&a, 0), view: view}, nil
}

// pinned is the page of the same plan, whenever it is looked at.
func (of *ReplayOf) pinned() *url.URL {
	query := url.Values{"rate": {strconv.Itoa(of.Rate)}}
	for name, value := range of.fields() {
		query.Set(name, value)
	}
	return &url.URL{Path: Path + "/replay/plan", RawQuery: query.Encode()}
}

func (w *replayPlanView) fill(f *replay.Forecast, rate int, number string) {
	w.Received, w.Events, w.Nothing = received(f.Run), terminal.Count(f.Events), f.Total() == 0
	if !w.Nothing {
		w.Span = terminal.Moment(f.First) + " to " + terminal.Moment(f.Last)
		w.Takes = terminal.Brief(max(time.Duration(f.Seconds)*time.Second/time.Duration(rate), time.Second))
	}
	w.Doubt = strings.Join(f.Doubts(), "; ")
	known := func(n int64) string {
		if !f.Journal {
			return "?"
		}
		return terminal.Count(n)
	}
	ids := slices.Sorted(maps.Keys(f.Destinations))
	w.Sum = terminal.Count(f.Total()) + " to " + terminal.Count(int64(len(ids))) + " destinations"
	ids, w.pager = paged(ids, number)
	for _, id := range ids {
		e := f.Destinations[id]
		w.Rows = append(w.Rows, expectedView{
			Destination: id, Send: terminal.Count(e.Send), Types: typesOf(e.ByType), Left: leftOut(e.Left),
			Missing: known(e.Missing), Again: known(e.Again), Gone: known(e.Gone), Unknown: known(e.Unknown),
		})
	}
}

func typesOf(counts map[schemas.Type]int64) string {
	text := ""
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		if text != "" {
			text += ", "
		}
		text += string(kind) + " " + terminal.Count(counts[kind])
	}
	if text == "" {
		return "-"
	}
	return text
}

// replayTypes are the choices of the field type: a deletion is never asked for once more.
func replayTypes() []option {
	return slices.DeleteFunc(types(), func(o option) bool { return o.Value == string(schemas.TypeDelete) })
}

// formOf is the form that means the same.
func formOf(of *ReplayOf) planForm {
	form := planForm{
		From: "24h", Source: of.Choice.Source, Destination: of.Choice.Destination, Type: string(of.Choice.Type), Event: of.Choice.Event, User: of.Choice.User,
		Missing: of.Choice.Missing, Rate: of.Rate, Types: replayTypes(),
	}
	if !of.From.IsZero() {
		form.From = of.From.Format(time.RFC3339Nano)
	}
	if !of.To.IsZero() {
		form.To = of.To.Format(time.RFC3339Nano)
	}
	return form
}

// fields are those of a form that begins the run, beside the rate.
func (of *ReplayOf) fields() map[string]string {
	all := map[string]string{
		"source": of.Choice.Source, "destination": of.Choice.Destination, "type": string(of.Choice.Type), "event": of.Choice.Event, "user": of.Choice.User,
	}
	if of.Choice.Missing {
		all["only"] = "missing"
	}
	if one := of.One; one != (EventAt{}) {
		all["at"], all["partition"], all["offset"] = one.At.Format(time.RFC3339Nano), strconv.Itoa(int(one.Partition)), strconv.FormatInt(one.Offset, 10)
	} else {
		all["from"], all["to"] = of.From.Format(time.RFC3339Nano), of.To.Format(time.RFC3339Nano)
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// replayOf reads a form, or a query. What was received up to now is meant up to the end of the
// minute, so that who looks again asks the same.
func replayOf(form url.Values, now time.Time) (of ReplayOf, err error) {
	of.Rate = replay.UsualRate
	of.Choice = replay.Choice{
		Source: form.Get("source"), Destination: form.Get("destination"), Type: schemas.Type(form.Get("type")), Event: form.Get("event"), User: form.Get("user"),
		Missing: form.Get("only") == "missing",
	}
	bad := func(err error) error { return &problem{http.StatusBadRequest, err.Error()} }
	if err = of.Choice.Validate(); err != nil {
		return of, bad(err)
	}
	if len(of.Choice.Event) > maxSearch || len(of.Choice.User) > maxSearch {
		return of, &problem{http.StatusBadRequest, "the event or the user has more than " + strconv.Itoa(maxSearch) + " bytes"}
	}
	if text := form.Get("rate"); text != "" {
		if of.Rate, err = rateOf(text); err != nil {
			return of, err
		}
	}
	if form.Has("offset") {
		of.One, err = eventAt(form)
		return of, err
	}
	if of.From, err = timeOf(form.Get("from"), now); err != nil {
		return of, bad(err)
	}
	if of.To, err = timeOf(form.Get("to"), now); err != nil {
		return of, bad(err)
	}
	if of.To.IsZero() {
		of.To = now.UTC().Truncate(time.Minute).Add(time.Minute)
	}
	if !of.From.Before(of.To) {
		return of, &problem{http.StatusBadRequest, "expected a time that begins before it ends"}
	}
	return of, nil
}

// timeOf reads a time; an empty text is none. How long ago something was is meant to the minute,
// and the end of a minute may be to come.
func timeOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at.UTC(), nil
	}
	at, err := deadletters.ParseTime(text, now)
	if _, ago := time.ParseDuration(text); ago == nil {
		at = at.Truncate(time.Minute)
	}
	return at.UTC(), err
}

func eventAt(form url.Values) (EventAt, error) {
	partition, err := strconv.ParseInt(form.Get("partition"), 10, 32)
	offset, offsetErr := strconv.ParseInt(form.Get("offset"), 10, 64)
	at, timeErr := time.Parse(time.RFC3339Nano, form.Get("at"))
	if err != nil || offsetErr != nil || timeErr != nil || partition < 0 || offset < 0 || form.Get("destination") == "" {
		return EventAt{}, &problem{http.StatusBadRequest, "expected the place of an event and a destination, as the page of an event has them"}
	}
	return EventAt{int32(partition), offset, at.UTC()}, nil
}

// beginReplay asks for the run of a plan.
func (c *Console) beginReplay(v *visit) (string, error) {
	of, err := replayOf(v.PostForm, v.now)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(v.Context(), quick)
	defer cancel()
	id, err := c.Questions.StartReplay(ctx, of)
	if err != nil {
		return "", err
	}
	c.Logger.Info("console: begun", "what", "replay "+id, "person", v.who.Name)
	c.asked.past.Outdate(struct{}{})
	return replayPath(id), nil
}
