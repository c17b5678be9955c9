package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/internal/workspace"
)

func TestOverview(t *testing.T) {
	t.Parallel()
	var got overviewView
	got.fill(sample(), sampleWorkspace().Load(), sampleWay())
	if diff := cmp.Diff(sample().Advice, got.Advice); diff != "" || len(got.Advice) == 0 {
		t.Errorf("what to do is not as `status` says it:\n%s", diff)
	}
	got.Advice = nil
	want := overviewView{
		Brokers: []string{"kafka-1:9092"},
		Sources: sourcesView{Enabled: 1, Disabled: 1, Names: []string{"Web site"}},
		Stages: []stageView{
			{Name: "router", State: "none runs", Ill: true, Unread: []unreadView{{"raw-events", "<=1,204", "1m35s"}}},
			{Name: "webhook-sink", State: "Stable", Members: []memberView{{"webhook-sink-a", "10.0.0.4", 54}}},
		},
		Beside: []stageView{{Name: "personas", State: "PreparingRebalance", Ill: true, Members: []memberView{{"personas-7c0d", "10.0.0.5", 0}}}},
		Hour:   &hourView{"120,400", "33", "1,110", "118,000", "12", "1,278"},
		Destinations: []destinationRow{
			{ID: "crm", Name: "CRM", State: "enabled", Undelivered: "<=17", Oldest: "2m", Retrying: ">=1,187", RetryAge: "1h58m", DeadText: "0", FailsWith: "status_5xx 1,180", worth: 4},
			{ID: "mail", Name: "Mail", State: "enabled", Undelivered: "0", Oldest: "-", Retrying: "0", RetryAge: "-", Dead: 10, DeadText: "10", FailsWith: "-", worth: 3},
			{ID: "old", Name: "old", State: "removed", Undelivered: "1", Oldest: "1s", Retrying: "0", RetryAge: "-", DeadText: "0", FailsWith: "-", worth: 2},
		},
		Retrying: []bar{{Name: "8m", Value: 1_250, Text: "<=1,250, 40 of them overdue", Width: 100}},
		LastHour: "120,400 accepted = 118,000 delivered + 1,090 filtered + 20 duplicate + 0 unconnected + 12 dead + 1,278 on their way",
		Doubt:    "at least 3 of those wait nowhere: `anabranch audit` names them",
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(overviewView{}, destinationRow{}, progress{})); diff != "" {
		t.Errorf("the view differs (-want +got):\n%s", diff)
	}
}

func TestADestination(t *testing.T) {
	t.Parallel()
	w := sampleWorkspace().Load()
	got := destinationView{ID: "crm", InForce: inForce(w, "crm")}
	if !got.fill(sample(), w) || len(got.Advice) == 0 {
		t.Errorf("nothing is said of a destination that fails: %+v", got)
	}
	got.Advice, got.Row = nil, destinationRow{}
	want := destinationView{
		ID: "crm",
		InForce: &destinationInForce{
			Name: "CRM", Type: "webhooks", Enabled: true, Pausable: true, Sources: []string{"website"}, Signed: "yes, with a shared secret",
			Endpoints: []string{"https://crm.example.com/hooks [Authorization]"},
		},
		Due:    []bar{{"now", 2, "2", 1}, {"up to 1m", 400, "400", 50}, {"up to 5m", 800, "800", 100}, {"later", 0, "0", 0}},
		Replay: "<=40", Export: "exports.crm, 6 partitions, which hold <=1,204 events",
		Waiting: []endpointView{{"https://crm.example.com/hooks", "1,187"}},
		Failing: "2026-11-21 10:02:00Z", Held: "900",
		Reasons: []reasonView{{"status_5xx", "1,180", "endpoint answered 503"}},
		Busy:    []busyView{{4, 2, "1,150"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(destinationView{}, destinationRow{}, progress{})); diff != "" {
		t.Errorf("the view differs (-want +got):\n%s", diff)
	}
	c := newConsole(t, nil)
	for target, want := range map[string]int{"/destination?id=mail": 200, "/destination?id=old": 200, "/destination?id=none": 404, "/destination": 400} {
		if w := serve(c, request(t, http.MethodGet, Path+target, "")); w.Code != want {
			t.Errorf("%s was answered %d, want %d", target, w.Code, want)
		}
	}
}

// TestManyDestinations: ten thousand are found by what their names hold, and shown page by
// page.
func TestManyDestinations(t *testing.T) {
	t.Parallel()
	c := newConsole(t, func(set *Settings) {
		r := &status.Report{At: noon}
		for i := range 10_000 {
			r.Destinations = append(r.Destinations, status.Destination{ID: fmt.Sprintf("d-%05d", i), State: status.Enabled})
		}
		r.Destinations[9_000].Retrying.Events = 1
		set.Questions.Status = func(context.Context, func(string)) (*status.Report, error) { return r, nil }
		set.Workspace = workspace.NewLive(workspace.NewSnapshot(nil, []workspace.Destination{{ID: "d-00077", Name: "Zürich CRM"}}))
	})
	tests := map[string]struct {
		query, want string
		rows        int
	}{
		"all":                 {"", "10,000 of 10,000 destinations", 50},
		"the last page":       {"page=200", "Page 200 of 200", 50},
		"a page beyond":       {"page=999", "Page 200 of 200", 50},
		"no page":             {"page=x", "Page 1 of 200", 50},
		"a part of an id":     {"q=D-0123", "10 of 10,000", 10},
		"a part of a name":    {"q=z%C3%BCrich", "1 of 10,000", 1},
		"nothing":             {"q=nothing", "0 of 10,000", 0},
		"what has to be said": {"only=waiting", "1 of 10,000", 1},
	}
	for name, test := range tests {
		page := look(t, c, Path+"/destinations?"+test.query)
		if rows := strings.Count(page, `<a id="d-`); rows != test.rows || !strings.Contains(page, test.want) || len(page) > 100_000 {
			t.Errorf("%s: %d rows in %d bytes, want %d with %q", name, rows, len(page), test.rows, test.want)
		}
	}
	if page := look(t, c, Path+"/"); !strings.Contains(page, "9,992 more destinations") || !strings.Contains(page, "d-09000") {
		t.Error("the overview does not have the one that fails, or does not count the others")
	}
}

// TestAPageWaitsForItsAnswer: it says what is being done and comes back, with script and
// without.
func TestAPageWaitsForItsAnswer(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	c := newConsole(t, func(set *Settings) {
		set.Questions.Status = func(ctx context.Context, _ func(string)) (*status.Report, error) {
			select {
			case <-answer:
				return sample(), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	page := look(t, c, Path+"/")
	for _, want := range []string{"Asking the brokers for 0s", `<noscript><meta http-equiv="refresh" content="1">`, `hx-trigger="load delay:1s"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	close(answer)
	if page = look(t, c, Path+"/"); !strings.Contains(page, "As of ") || !strings.Contains(page, `hx-trigger="load delay:5s"`) {
		t.Errorf("the page is\n%s", page)
	}
	if page = look(t, c, Path+"/?pause=1"); strings.Contains(page, "hx-get") || strings.Contains(page, "http-equiv") {
		t.Error("a page that was paused comes back")
	}
}

func TestAPageWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	c := newConsole(t, func(set *Settings) {
		set.Questions.Status = func(context.Context, func(string)) (*status.Report, error) {
			return nil, errors.New("broker unavailable")
		}
	})
	if page := look(t, c, Path+"/"); !strings.Contains(page, "Broker unavailable.") {
		t.Errorf("the page does not say why there is nothing:\n%s", page)
	}
}
