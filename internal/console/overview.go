package console

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/audit"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
)

const (
	// byAndBy is when a page that follows what happens is looked at again.
	byAndBy = 5 * time.Second
	// fewest is how many destinations the picture has; those with something to say come
	// first.
	fewest = 8
	// mostAdvice is how many things to do are shown at once.
	mostAdvice = 40
)

// overviewView is the pipeline as one picture, and what to do.
type overviewView struct {
	progress

	Paused       bool
	Brokers      []string
	Sources      sourcesView
	Stages       []stageView // calls pass through these on their way, in this order
	Beside       []stageView // and not through these
	Destinations []destinationRow
	More         int // destinations that are not in the picture
	Retrying     []bar
	Hour         *hourView // what went through in the last hour; nil: nothing is journalled
	LastHour     string    // the equation of it
	Doubt        string    // about that
	Advice       []status.Advice
	MoreAdvice   int
}

// hourView is what became of the calls of an hour, each counted for every destination that
// listens to its source. The rate is empty where not all of the hour was read.
type hourView struct{ Accepted, Rate, Left, Delivered, Dead, OnTheWay string }

func hourOf(g *audit.Glance) *hourView {
	count, rate := terminal.Count, ""
	if g.Complete {
		rate = perSecond(g.Accepted, g.To.Sub(g.From))
	}
	return &hourView{count(g.Accepted), rate, count(g.Filtered + g.Duplicate + g.Unconnected), count(g.Delivered), count(g.Dead), count(g.OnTheWay)}
}

// perSecond is how many things there were in a second, to two digits.
func perSecond(n int64, over time.Duration) string {
	each := float64(n) / over.Seconds()
	if each < 10 {
		return strconv.FormatFloat(each, 'g', 2, 64)
	}
	return terminal.Count(int64(each))
}

// sourcesView is where calls come from.
type sourcesView struct {
	Enabled, Disabled int
	Names             []string // a few of them
}

// stageView is a stage that reads from the brokers.
type stageView struct {
	Name, State string
	Ill         bool // whether nothing is processed
	Members     []memberView
	Unread      []unreadView
}

type memberView struct {
	Name, Host string
	Partitions int
}

type unreadView struct{ Topic, Events, Age string }

// overview asks for the state of the pipeline.
func (c *Console) overview(v *visit) (*content, error) {
	a := c.asked.status.Ask(v.Context(), struct{}{})
	view := overviewView{progress: progressOf(&a, v.now), Paused: v.text("pause") != ""}
	if a.Known() {
		view.fill(a.Value, c.Workspace.Load(), c.Way)
	}
	when := again(&a, byAndBy)
	if view.Paused && a.Known() {
		when = 0
	}
	return &content{title: "Overview", again: when, view: view}, nil
}

// fill shows a report.
func (o *overviewView) fill(r *status.Report, w *workspace.Snapshot, way pipeline.Way) {
	o.Brokers = r.Brokers
	o.Sources = sourcesOf(w)
	for i := range r.Stages {
		s := &r.Stages[i]
		if s.Group == way.Router || s.Group == way.Sink {
			o.Stages = append(o.Stages, stageOf(s, r.At))
		} else {
			o.Beside = append(o.Beside, stageOf(s, r.At))
		}
	}
	rows := destinationRows(r, w)
	slices.SortStableFunc(rows, func(a, b destinationRow) int { return -cmp.Compare(a.worth, b.worth) })
	o.Destinations = rows[:min(fewest, len(rows))]
	o.More = len(rows) - len(o.Destinations)
	o.Retrying = retryBars(r)
	if r.LastHour != nil {
		o.Hour, o.LastHour, o.Doubt = hourOf(r.LastHour), r.LastHour.String(), r.LastHour.Doubt()
	}
	o.Advice = r.Advice[:min(mostAdvice, len(r.Advice))]
	o.MoreAdvice = len(r.Advice) - len(o.Advice)
}

func sourcesOf(w *workspace.Snapshot) (s sourcesView) {
	for _, source := range w.Sources() {
		if !source.Enabled {
			s.Disabled++
			continue
		}
		s.Enabled++
		if len(s.Names) < fewest {
			s.Names = append(s.Names, source.Name)
		}
	}
	return s
}

func stageOf(s *status.Stage, now time.Time) stageView {
	view := stageView{Name: s.Name, State: cmp.Or(s.State, "not there"), Ill: s.State != "Stable" || len(s.Members) == 0}
	if len(s.Members) == 0 {
		view.State = "none runs"
	}
	for _, m := range s.Members {
		member := memberView{Name: cmp.Or(m.Instance, m.ID), Host: m.Host}
		for _, n := range m.Partitions {
			member.Partitions += n
		}
		view.Members = append(view.Members, member)
	}
	for _, u := range s.Unread {
		view.Unread = append(view.Unread, unreadView{u.Topic, u.Waiting.Number(), u.Waiting.Age(now)})
	}
	return view
}

// bar is one of a chart.
type bar struct {
	Name  string
	Value int64
	Text  string // the value, and what else there is to say
	Width int    // of 100, of the longest
}

// retryBars are what waits for a retry, by how long it waits at a time.
func retryBars(r *status.Report) (bars []bar) {
	most := int64(1)
	for i := range r.Retries {
		most = max(most, r.Retries[i].Waiting.Events)
	}
	for i := range r.Retries {
		q := &r.Retries[i]
		if q.Waiting.Events == 0 {
			continue
		}
		text := q.Waiting.Number()
		if q.Overdue > 0 {
			text += ", " + terminal.Count(q.Overdue) + " of them overdue"
		}
		bars = append(bars, bar{Name: q.Delay, Value: q.Waiting.Events, Text: text, Width: max(1, int(q.Waiting.Events*100/most))})
	}
	return bars
}
