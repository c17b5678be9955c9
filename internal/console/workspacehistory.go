package console

import (
	"context"
	"net/url"

	"github.com/anabranch/anabranch/internal/apply"
	"github.com/anabranch/anabranch/internal/console/internal/asking"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/personas/ask"
)

// WorkspaceHistory is who put what in force, as far as that is kept.
type WorkspaceHistory struct {
	Applications []workspace.Application // the last one first
	Holdings     []workspace.Holding
}

// askedWorkspace are the questions about the workspace that are being asked, and what came of
// them.
type askedWorkspace struct {
	history    *asking.Shared[struct{}, *WorkspaceHistory]
	violations *asking.Shared[ViolationsOf, *Violations]
}

func newAskedWorkspace(q *Questions) askedWorkspace {
	return askedWorkspace{
		history:    asking.New(asking.Options{Fresh: fresh, Deadline: quick, Patience: patience, Most: 1}, alone(q.WorkspaceHistory)),
		violations: asking.New(asking.Options{Fresh: kept, Deadline: slow, Patience: patience, Most: searches}, q.Violations),
	}
}

func (a *askedWorkspace) close() {
	a.history.Close()
	a.violations.Close()
}

func (b *Brokers) workspaceHistory(ctx context.Context) (*WorkspaceHistory, error) {
	state, err := wstopic.Read(ctx, b.Kafka)
	if err != nil {
		return nil, err
	}
	return &WorkspaceHistory{state.History(), state.Holdings()}, nil
}

// workspaceHistoryView is when what is in force was changed, and by whom.
type workspaceHistoryView struct {
	progress
	pager

	Kind, Search string
	Kinds        []option
	Applications []applicationRow
	Rows         []holdingRow
	// Waiting are definitions that are not in force everywhere, where that was asked for.
	Waits   bool
	Asked   progress
	Waiting []waitingRow
}

// applicationRow is one application.
type applicationRow struct {
	At, By string
	Lines  []string // what it changed, as a plan prints it
}

// holdingRow is something that is in force.
type holdingRow struct{ Kind, ID, URL, Changed, By string }

// waitingRow is a definition that personas is still taking up.
type waitingRow struct{ Key, Phase, Filled string }

// workspaceHistory shows when what is in force was changed, and by whom.
func (c *Console) workspaceHistory(v *visit) (*content, error) {
	view := workspaceHistoryView{Search: v.text("q"), Waits: v.text("waits") != "", Kinds: []option{{"", "everything"}}}
	for _, s := range sections() {
		view.Kinds = append(view.Kinds, option{s.kind, s.name})
	}
	var err error
	if view.Kind, err = v.choice("kind", view.Kinds); err != nil {
		return nil, err
	}
	a := c.asked.workspace.history.Ask(v.Context(), struct{}{})
	view.progress = progressOf(&a, v.now)
	if a.Known() {
		view.fill(a.Value, v.text("page"))
		view.link(v.URL)
	}
	when := again(&a, 0)
	if view.Waits {
		w := c.asked.personas.list.Ask(v.Context(), struct{}{})
		view.Asked = progressOf(&w, v.now)
		view.wait(w.Value)
		when = max(when, again(&w, 0))
	}
	return &content{title: "History of the workspace", again: when, view: view}, nil
}

func (w *workspaceHistoryView) fill(h *WorkspaceHistory, number string) {
	for i := range h.Applications {
		one := &h.Applications[i]
		w.Applications = append(w.Applications, applicationRow{terminal.Moment(one.At), apply.By(one.By), apply.Lines(one)})
	}
	var rows []holdingRow
	for _, one := range h.Holdings {
		if (w.Kind == "" || w.Kind == one.Kind) && holds(w.Search, one.ID, one.By) {
			rows = append(rows, holdingRow{one.Kind, one.ID, pageOf(one), terminal.Moment(one.Changed), apply.By(one.By)})
		}
	}
	w.Rows, w.pager = paged(rows, number)
}

// pageOf is where there is more to say of something; empty: nowhere. Definitions have their
// versions there.
func pageOf(one workspace.Holding) string {
	switch one.Kind {
	case workspace.KindDestination:
		return Path + "/destination?" + url.Values{"id": {one.ID}}.Encode()
	case workspace.KindAudience, workspace.KindTrait:
		return Path + "/persona?" + url.Values{"key": {one.ID}}.Encode()
	}
	return ""
}

func (w *workspaceHistoryView) wait(all []ask.Summary) {
	for i := range all {
		if s := &all[i]; s.Phase != ask.Ready && s.Phase != ask.Disabled {
			w.Waiting = append(w.Waiting, waitingRow{s.Key, string(s.Phase), s.Filled()})
		}
	}
}
