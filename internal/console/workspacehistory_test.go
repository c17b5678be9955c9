package console

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
)

func sampleWorkspaceHistory(text string) *WorkspaceHistory {
	return &WorkspaceHistory{
		Applications: []workspace.Application{
			{At: noon, By: text, Changes: []workspace.Noted{{Op: "~", Kind: "destination", ID: "crm", Fields: []string{"endpoints", text}}}, More: 1_204},
			{At: noon.Add(-time.Hour), Changes: []workspace.Noted{{Op: "+", Kind: "source", ID: "app"}}},
		},
		Holdings: []workspace.Holding{
			{Kind: "source", ID: "app", Changed: noon.Add(-time.Hour)}, {Kind: "destination", ID: "crm", Changed: noon, By: text}, {Kind: "audience", ID: "buyers", Changed: noon},
		},
	}
}

func TestWorkspaceHistory(t *testing.T) {
	t.Parallel()
	var got workspaceHistoryView
	got.fill(sampleWorkspaceHistory("ada"), "")
	want := workspaceHistoryView{
		pager: pager{Found: 3, Number: 1, Last: 1},
		Applications: []applicationRow{
			{"2026-11-21 12:00:00Z", "ada", []string{"~ destination crm: endpoints, ada changed", "and 1,204 changes more"}},
			{"2026-11-21 11:00:00Z", "not known", []string{"+ source app"}},
		},
		Rows: []holdingRow{
			{"source", "app", "", "2026-11-21 11:00:00Z", "not known"},
			{"destination", "crm", "/console/destination?id=crm", "2026-11-21 12:00:00Z", "ada"},
			{"audience", "buyers", "/console/persona?key=buyers", "2026-11-21 12:00:00Z", "not known"},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(workspaceHistoryView{}, progress{}, pager{})); diff != "" {
		t.Errorf("the view differs (-want +got):\n%s", diff)
	}
	c := newConsole(t, nil)
	for query, want := range map[string][2]string{
		"":                      {"look which of them wait", "25% until"},
		"?waits=1":              {"25% until", "look which of them wait"},
		"?kind=source":          {"<td>source</td>", "<td>destination</td>"},
		"?kind=destination&q=X": {"<p>None.</p>", "<td>destination</td>"},
	} {
		if page := look(t, c, Path+"/workspace/history"+query); !strings.Contains(page, want[0]) || strings.Contains(page, want[1]) {
			t.Errorf("%q: the page does not have %s, or has %s:\n%s", query, want[0], want[1], page)
		}
	}
	if page := look(t, c, Path+"/workspace"); !strings.Contains(page, `href="/console/workspace/history"`) {
		t.Error("the workspace does not lead to it")
	}
	if w := serve(c, request(t, http.MethodGet, Path+"/workspace/history?kind=x", "")); w.Code != http.StatusBadRequest {
		t.Errorf("of an unknown kind: answered %d", w.Code)
	}
}

// TestWhoAppliesIsKept: what is applied from the page stands in the history with who did it.
func TestWhoAppliesIsKept(t *testing.T) {
	t.Parallel()
	_, b, _ := applying(t)
	q := FromBrokers(b)
	plan, err := q.PlanWorkspace(t.Context(), sampleWorkspace().Load())
	if err != nil {
		t.Fatal(err)
	}
	plan.Plan.By = "ada"
	if _, err = q.ApplyWorkspace(t.Context(), plan.Plan, func(string) {}); err != nil {
		t.Fatal(err)
	}
	h, err := q.WorkspaceHistory(t.Context())
	if err != nil || len(h.Applications) != 1 || h.Applications[0].By != "ada" || len(h.Applications[0].Changes) == 0 || len(h.Holdings) == 0 {
		t.Fatalf("the history is %+v, %v", h, err)
	}
	for _, one := range h.Holdings {
		if one.By != "ada" || time.Since(one.Changed) > time.Hour {
			t.Errorf("%+v was not changed by ada just now", one)
		}
	}
}
