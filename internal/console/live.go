package console

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/console/internal/tail"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/listing"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// CallAt is where a call stands on raw-events.
type CallAt struct {
	Partition int32
	Offset    int64
}

// liveView is the newest calls, and what a script needs to follow them.
type liveView struct {
	progress

	Source, Event, User, Text, Type string
	Types                           []option
	Sources                         []string // that may be chosen
	Stream                          string   // URL of the calls that come
	Cap, Read, Most                 string
	Rows                            []callRow
}

// callRow is a call in the list.
type callRow struct {
	ID, At, Source, Type, Event, User, MessageID string
	Trace, Curl                                  string // URLs; of the trace empty: there is none without a messageId
}

// mostSources is how many sources are offered.
const mostSources = 200

func types() []option {
	known := []schemas.Type{
		"", schemas.TypeTrack, schemas.TypeIdentify, schemas.TypePage, schemas.TypeScreen, schemas.TypeGroup, schemas.TypeAlias, schemas.TypeDelete,
	}
	all := make([]option, len(known))
	for i, t := range known {
		all[i] = option{string(t), string(t)}
	}
	all[0].Text = "any type"
	return all
}

// wanted are the fields of the query.
func (v *visit) wanted() (of tail.Wanted, err error) {
	of = tail.Wanted{Source: strings.TrimSpace(v.text("source")), Event: v.text("event"), User: v.text("user"), Text: v.text("q")}
	kind, err := v.choice("type", types())
	of.Type = schemas.Type(kind)
	for name, text := range map[string]string{"source": of.Source, "event": of.Event, "user": of.User, "text": of.Text} {
		if len(text) > maxSearch {
			err = &problem{http.StatusBadRequest, "the " + name + " has more than " + strconv.Itoa(maxSearch) + " bytes"}
		}
	}
	return of, err
}

// live shows the newest calls. A script follows those that come (static/live.js).
func (c *Console) live(v *visit) (*content, error) {
	of, err := v.wanted()
	if err != nil {
		return nil, err
	}
	view := liveView{
		Source: of.Source, Event: of.Event, User: of.User, Text: of.Text, Type: string(of.Type), Types: types(),
		Stream: livePath + "?" + queryOf(&of), Cap: terminal.Count(tail.PerSecond), Read: terminal.Count(newestRead), Most: terminal.Count(newestShown),
	}
	for _, s := range c.Workspace.Load().Sources() {
		if len(view.Sources) < mostSources {
			view.Sources = append(view.Sources, s.ID)
		}
	}
	a := c.asked.newest.Ask(v.Context(), of)
	view.progress = progressOf(&a, v.now)
	for _, call := range a.Value {
		view.Rows = append(view.Rows, rowOf(call, v.now))
	}
	return &content{title: "Live", again: again(&a, 0), view: view}, nil
}

func queryOf(of *tail.Wanted) string {
	query := make(url.Values)
	for name, text := range map[string]string{"source": of.Source, "type": string(of.Type), "event": of.Event, "user": of.User, "q": of.Text} {
		if text != "" {
			query.Set(name, text)
		}
	}
	return query.Encode()
}

func rowOf(c *tail.Call, now time.Time) callRow {
	id := strconv.Itoa(int(c.Partition)) + "-" + strconv.FormatInt(c.Offset, 10)
	row := callRow{
		ID: id, At: c.At.UTC().Format(clock), Source: c.Source, Type: string(c.Type), Event: c.Event(), User: c.User, MessageID: c.MessageID,
		Curl: Path + "/call?at=" + id,
	}
	if c.MessageID != "" {
		row.Trace = Path + "/event?" + url.Values{"id": {c.MessageID}, "user": {c.User}, "since": {reaching(now.Sub(c.At))}}.Encode()
	}
	return row
}

// reaching is how far back a page has to look for what is so old, for as long as somebody may
// have a link to it.
func reaching(age time.Duration) string {
	const kept = time.Hour
	best := backs()[0].Value
	for _, o := range backs() {
		back, err := time.ParseDuration(o.Value)
		was, _ := time.ParseDuration(best)
		if err == nil && was < age+kept && back > was {
			best = o.Value
		}
	}
	return best
}

// storedView is one call as it is stored.
type storedView struct {
	progress

	Record     string // where it stands
	Row        callRow
	Curl, Body string
}

// call shows one call, and how it is sent once more.
func (c *Console) call(v *visit) (*content, error) {
	id, err := deadletters.ParseID(v.text("at"))
	if err != nil {
		return nil, &problem{http.StatusBadRequest, "expected where a call stands on raw-events, <partition>-<offset>, such as 3-1704"}
	}
	a := c.asked.call.Ask(v.Context(), CallAt(id))
	view := storedView{progress: progressOf(&a, v.now)}
	if a.Known() {
		view.Row = rowOf(a.Value, v.now)
		view.Record = schemas.Position{Topic: schemas.TopicRawEvents, Partition: id.Partition, Offset: id.Offset}.String()
		view.Curl, view.Body = curlOf(a.Value), listing.Pretty(a.Value.Value, len(a.Value.Value))
	}
	return &content{title: "Call " + id.String(), again: again(&a, 0), view: view}, nil
}

// curlOf is a command for a shell that sends a call as it is stored. The address and the write
// key, which is a secret, are for the person to fill in. Empty: a call of its type can't be sent.
func curlOf(c *tail.Call) string {
	if c.Type == "" || c.Type == schemas.TypeDelete {
		return "" // the API takes none
	}
	return `curl "$ANABRANCH_URL/v1/` + string(c.Type) + `" -u "$WRITE_KEY:" -H 'Content-Type: application/json' --data-raw ` + quoted(c.Value)
}

// quoted is a word of a shell.
func quoted(text []byte) string {
	return "'" + string(bytes.ReplaceAll(text, []byte("'"), []byte(`'\''`))) + "'"
}

// drawCall is the row of a call, as it is on the page.
func (c *Console) drawCall(call *tail.Call) []byte {
	row := rowOf(call, time.Now())
	text, err := draw("live.html", "calls", []callRow{row})
	if err != nil {
		c.Logger.Error("console: a call could not be shown", "record", row.ID, "error", err)
	}
	return text
}

// countsView says what a tail has seen.
type countsView struct {
	Since                        string
	Came, Wanted, Shown, LeftOut string
	Problem                      string
}

func countsOf(since string, news *tail.News) countsView {
	view := countsView{
		Since: since, Came: terminal.Count(news.Came), Wanted: terminal.Count(news.Wanted), Shown: terminal.Count(news.Wanted - news.LeftOut),
	}
	if news.LeftOut > 0 {
		view.LeftOut = terminal.Count(news.LeftOut)
	}
	if news.Problem != nil {
		view.Problem = sentence(news.Problem.Error())
	}
	return view
}

// newestFirst are calls of several partitions in the order of a list.
func newestFirst(calls []*tail.Call) []*tail.Call {
	slices.Reverse(calls) // those of one moment too
	slices.SortStableFunc(calls, func(a, b *tail.Call) int { return b.At.Compare(a.At) })
	return calls
}
