package console

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
)

// workspaceView is one page of what is in force of a kind.
type workspaceView struct {
	pager

	Applies      bool // files can be applied here
	Kind, Search string
	Kinds        []kindView
	Heads        []string
	Rows         []entryRow
	Sum          string // how much is in force
	Identity     string // how many anonymous ids a user may claim
}

// kindView is a kind of thing, and how many there are.
type kindView struct {
	Kind, Name string
	Entries    string
	Current    bool
}

// entryRow is one thing that is in force. Its cells stand below the heads of its kind.
type entryRow struct {
	ID, URL string
	Cells   []string
}

// section is all that is in force of a kind.
type section struct {
	kind, name string
	heads      []string
	rows       func(*workspace.Snapshot) []entryRow
}

func sections() []section {
	return []section{
		{workspace.KindSource, "Sources", []string{"Name", "Enabled", "Tracking plan", "Destinations"}, sourceRows},
		{workspace.KindDestination, "Destinations", []string{"Name", "Enabled", "Sources", "Endpoints", "Signed"}, destinationEntries},
		{workspace.KindAudience, "Audiences", []string{"Name", "Version", "Applied", "Versions kept"}, audienceRows},
		{workspace.KindTrait, "Computed traits", []string{"Name", "Version", "Applied", "Versions kept"}, traitRows},
	}
}

// workspace shows what is in force in this process. It asks nobody.
func (c *Console) workspace(v *visit) (*content, error) {
	all := sections()
	kinds := make([]option, len(all))
	for i, s := range all {
		kinds[i].Value = s.kind
	}
	kind, err := v.choice("kind", kinds)
	if err != nil {
		return nil, err
	}
	view := workspaceView{Applies: !c.ReadOnly, Kind: kind, Search: v.text("q")}
	view.fill(c.Workspace.Load(), v.text("page"))
	view.link(v.URL)
	return &content{title: "Workspace", view: view}, nil
}

func (w *workspaceView) fill(s *workspace.Snapshot, number string) {
	w.Sum = s.String()
	ids := s.AnonymousIDs()
	per, _ := ids.Per.MarshalText()
	w.Identity = strconv.Itoa(ids.Max) + " anonymous ids in " + string(per)
	for _, one := range sections() {
		rows := one.rows(s)
		w.Kinds = append(w.Kinds, kindView{one.kind, one.name, terminal.Count(int64(len(rows))), one.kind == w.Kind})
		if one.kind == w.Kind {
			w.Heads = one.heads
			w.Rows, w.pager = paged(search(rows, w.Search), number)
		}
	}
}

// search returns the rows whose id or name holds a text.
func search(rows []entryRow, text string) (found []entryRow) {
	for _, row := range rows {
		if holds(text, row.ID, row.Cells[0]) {
			found = append(found, row)
		}
	}
	return found
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func sourceRows(s *workspace.Snapshot) (rows []entryRow) {
	for _, source := range s.Sources() {
		plan := "none"
		if p := source.Plan; p != nil {
			plan = "calls that violate it: " + cmp.Or(string(p.Action), string(workspace.PlanAllow)) + ", " + strconv.Itoa(len(p.Events)) + " events"
		}
		rows = append(rows, entryRow{ID: source.ID, Cells: []string{source.Name, yesNo(source.Enabled), plan, strconv.Itoa(len(s.Listeners(source.ID)))}})
	}
	return rows
}

func destinationEntries(s *workspace.Snapshot) (rows []entryRow) {
	for _, d := range s.Destinations() {
		endpoints := make([]string, len(d.Endpoints))
		for i := range d.Endpoints {
			endpoints[i] = d.Endpoints[i].String()
		}
		rows = append(rows, entryRow{ID: d.ID, URL: "destination", Cells: []string{
			d.Name, yesNo(d.Enabled), strings.Join(d.Sources, ", "), strings.Join(endpoints, ", "), yesNo(d.SharedSecret != ""),
		}})
	}
	return rows
}

func audienceRows(s *workspace.Snapshot) (rows []entryRow) {
	for _, a := range s.Audiences() {
		rows = append(rows, definitionRow(a.ID, a.Name, &a.Edition))
	}
	return rows
}

func traitRows(s *workspace.Snapshot) (rows []entryRow) {
	for _, t := range s.Traits() {
		rows = append(rows, definitionRow(t.ID, t.Name, &t.Edition))
	}
	return rows
}

func definitionRow(id, name string, e *workspace.Edition) entryRow {
	return entryRow{ID: id, Cells: []string{name, strconv.Itoa(e.Version), terminal.Moment(e.Applied), strconv.Itoa(len(e.Earlier) + 1)}}
}
