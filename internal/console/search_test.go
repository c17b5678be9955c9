package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/messagetrace"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

func TestDeletions(t *testing.T) {
	t.Parallel()
	var got deletionsView
	got.fill(sampleDeletions("its sources are gone"), "")
	want := deletionsView{
		pager: pager{Found: 2, Number: 1, Last: 1}, Suppressed: "1,204",
		Rows: []deletionRow{
			{ID: "r2", Type: "DELETE_ONLY", Status: "RUNNING", Created: "2026-11-21 12:00:00Z", Finished: "-", Users: "1,000", Told: "999 (99 %)", Sources: []string{"website", "app"}},
			{ID: "r1", Type: "SUPPRESS_ONLY", Status: "FAILED", Created: "2026-11-21 11:00:00Z", Finished: "2026-11-21 12:00:00Z", Users: "1", Reason: "its sources are gone"},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(deletionsView{}, progress{}, pager{})); diff != "" {
		t.Errorf("the view differs (-want +got):\n%s", diff)
	}
	if page := look(t, newConsole(t, nil), Path+"/deletions?q=failed"); strings.Contains(page, "r2") || !strings.Contains(page, "r1") {
		t.Error("the search does not find what failed, or finds more")
	}
}

// TestDeadLetters: the newest come first, by what the person asked for, and all are counted.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	found := new(Letters)
	for i := range 3 * mostLetters {
		found.take(LettersOf{Text: "Signed"}, sampleLetter(i, "Signed Up"))
		found.take(LettersOf{Text: "Signed"}, sampleLetter(i, "Left"))
	}
	var got deadLettersView
	got.fill(found, "2")
	if got.FoundText != "1,500" || got.Shown != "500" || got.pager != (pager{Found: 500, Number: 2, Last: 10}) || len(got.Rows) != perPage {
		t.Errorf("found %s, shows %s, %+v, %d rows", got.FoundText, got.Shown, got.pager, len(got.Rows))
	}
	want := letterRow{
		ID: "1-2153", FailedAt: "2026-11-21 12:24:09Z", Destination: "mail", Reason: "status_4xx", Type: "track", MessageID: "m1449", User: "Signed Up",
		Detail: "Signed Up", RedrivenAt: "-", Attempts: 3,
	}
	if diff := cmp.Diff(want, got.Rows[0]); diff != "" {
		t.Errorf("the first row of the second page (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]groupRow{{"mail", "status_4xx", "1,500", "0"}}, got.Groups); diff != "" {
		t.Errorf("the groups (-want +got):\n%s", diff)
	}
}

// TestWhatIsAskedOfDeadLetters: fields of the query, and what is wrong with them.
func TestWhatIsAskedOfDeadLetters(t *testing.T) {
	t.Parallel()
	var got LettersOf
	c := newConsole(t, func(set *Settings) {
		set.Questions.Letters = func(_ context.Context, of LettersOf, _ func(string)) (*Letters, error) {
			got = of
			return new(Letters), nil
		}
	})
	look(t, c, Path+"/dead-letters?destination=+crm+&reason=timeout&since=168h&q=a%3Db%20")
	if want := (LettersOf{Destination: "crm", Reason: schemas.ReasonTimeout, Back: 168 * time.Hour, Text: "a=b "}); got != want {
		t.Errorf("asked for %+v, want %+v", got, want)
	}
	for query, want := range map[string]string{
		"destination=CRM":                 "lower-case letters",
		"reason=none":                     "none of the choices",
		"since=99h":                       "none of the choices",
		"q=" + strings.Repeat("x", 1_001): "more than 1000 bytes",
	} {
		if w := serve(c, request(t, http.MethodGet, Path+"/dead-letters?"+query, "")); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.30s was answered %d without %q", query, w.Code, want)
		}
	}
}

// TestOneDeadLetter is shown whole, numbers beyond 2^53 as they are.
func TestOneDeadLetter(t *testing.T) {
	t.Parallel()
	page := look(t, newConsole(t, nil), Path+"/dead-letter?id=1-704")
	for _, want := range []string{"9007199254740993", "Signed Up", "first attempt", "/console/event?id=m0"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	var got EventsOf
	c := newConsole(t, func(set *Settings) {
		was := set.Questions.Events
		set.Questions.Events = func(ctx context.Context, of EventsOf, say func(string)) ([]messagetrace.Event, error) {
			got = of
			return was(ctx, of, say)
		}
	})
	page := look(t, c, Path+"/events?user=a%26b%3F&last=200&since=1h")
	if want := (EventsOf{User: "a&b?", Last: 200, Back: time.Hour}); got != want {
		t.Errorf("asked for %+v, want %+v", got, want)
	}
	for _, want := range []string{"1,204 ms", "2026-11-21 12:00:00.000Z", "/console/event?id=Signed%20Up&amp;user=Signed%20Up&amp;since=1h", `value="a&#x26;b?"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	got = EventsOf{}
	if look(t, c, Path+"/events"); got != (EventsOf{}) {
		t.Errorf("a form that was not filled in asks for %+v", got)
	}
	for _, query := range []string{"user=u&destination=crm", "last=7", "reason=x", "destination=X", "user=" + strings.Repeat("x", 1_001)} {
		if w := serve(c, request(t, http.MethodGet, Path+"/events?"+query, "")); w.Code != http.StatusBadRequest {
			t.Errorf("%.30s was answered %d", query, w.Code)
		}
	}
}

func TestATrace(t *testing.T) {
	t.Parallel()
	var got eventView
	got.fill(sampleTrace("Signed Up"), sampleWorkspace().Load())
	want := eventView{
		Searched: "1 of 6 partitions of raw-events from 2026-11-21 12:00:00.000Z to 2026-11-21 12:01:00.000Z, 1,204 records",
		Remarks:  []string{"the user is suppressed: calls of this user are dropped from the time of the request on, and answered with 200", "Signed Up"},
		Calls: []callView{{
			What: `track "Signed Up"`, Source: "Signed Up", User: "Signed Up", Remarks: []string{"Signed Up"}, Stored: "/console/call?at=3-1704",
			Violations: []messagetrace.Violation{{Path: "Signed Up", Message: "Signed Up"}},
			Moments: []momentView{
				{"2026-11-21 12:00:00.000Z", "taken by ingest, 1,204 bytes, from Signed Up, raw-events[3]@1704"},
				{"2026-11-21 12:01:00.000Z", "routed"},
			},
			Destinations: []outcomeView{
				{ID: "crm", Verdict: "delivered", Tone: "good", Again: "/console/replay/plan?at=2026-11-21T12%3A00%3A00Z&destination=crm&offset=1704&partition=3", Moments: []momentView{
					{"2026-11-21 12:01:00.000Z", "attempt 1: Signed Up failed with status_5xx after 0 ms; again at 2026-11-21 12:01:00.000Z"},
					{"2026-11-21 12:01:00.000Z", "attempt 2: crm.example.com took it after 17 ms"},
				}},
				{ID: "mail", Verdict: "dead: status_4xx", Tone: "bad", Letters: []string{"1-704"}, Again: "/console/replay/plan?at=2026-11-21T12%3A00%3A00Z&destination=mail&offset=1704&partition=3", Moments: []momentView{{"2026-11-21 12:01:00.000Z", "dead letter 1-704: Signed Up"}}},
				{ID: "old", Verdict: `filtered by "Signed Up" in the call's integrations map`, Remarks: []string{"Signed Up"}},
			},
		}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(eventView{}, progress{})); diff != "" {
		t.Errorf("the view differs (-want +got):\n%s", diff)
	}
	if w := serve(newConsole(t, nil), request(t, http.MethodGet, Path+"/event", "")); w.Code != http.StatusBadRequest {
		t.Errorf("without a messageId: answered %d", w.Code)
	}
}

// TestASearchSaysHowFarItIs, and is given up when nobody waits any more; see package asking.
func TestASearchSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	c := newConsole(t, func(set *Settings) {
		set.Questions.Trace = func(ctx context.Context, _ CallOf, say func(string)) (*messagetrace.Trace, error) {
			say("back to 2026-11-21 11:00:00Z, 1,204 records so far")
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	if page := look(t, c, Path+"/event?id=m1"); !strings.Contains(page, "1,204 records so far") || !strings.Contains(page, `hx-get="/console/event?id=m1"`) {
		t.Errorf("the page is\n%s", page)
	}
	for i := range searches {
		w := serve(c, request(t, http.MethodGet, fmt.Sprintf("%s/event?id=other%d", Path, i), ""))
		if i == searches-1 && !strings.Contains(w.Body.String(), "Too many other questions") {
			t.Errorf("as many searches as people like are made at once:\n%s", w.Body)
		}
	}
}

func TestWorkspace(t *testing.T) {
	t.Parallel()
	doc := workspace.Document{
		Sources: []workspace.Source{
			{ID: "app", Name: "App"},
			{ID: "website", Name: "Web site", Enabled: true, Plan: &workspace.TrackingPlan{Action: workspace.PlanBlock, Events: map[string]workspace.PlannedObject{"A": {}, "B": {}}}},
		},
		Destinations: []workspace.Destination{{
			ID: "crm", Name: "CRM", Enabled: true, Sources: []string{"website"}, SharedSecret: "zqSecret",
			Endpoints: []workspace.Endpoint{{URL: "https://crm.example.com/?key=zqQuery"}},
		}},
		Audiences: []workspace.Audience{{
			Audience: definition.Audience{Common: definition.Common{ID: "pros", Name: "Pros"}},
			Edition:  workspace.Edition{Version: 3, Applied: noon, Earlier: make([]workspace.Earlier, 2)},
		}},
	}
	for kind, want := range map[string][]entryRow{
		"source": {
			{ID: "app", Cells: []string{"App", "no", "none", "0"}},
			{ID: "website", Cells: []string{"Web site", "yes", "calls that violate it: block, 2 events", "1"}},
		},
		"destination": {{ID: "crm", URL: "destination", Cells: []string{"CRM", "yes", "website", "https://crm.example.com/", "yes"}}},
		"audience":    {{ID: "pros", Cells: []string{"Pros", "3", "2026-11-21 12:00:00Z", "3"}}},
		"trait":       nil,
	} {
		got := workspaceView{Kind: kind}
		got.fill(doc.Snapshot(), "")
		if diff := cmp.Diff(want, got.Rows); diff != "" || got.Sum != "2 sources, 1 destination, 1 audience" || got.Identity != "100 anonymous ids in 7d" {
			t.Errorf("%s: %s, %s, rows (-want +got):\n%s", kind, got.Sum, got.Identity, diff)
		}
	}
}

// TestFromBrokers asks real questions, of a cluster that has little to say.
func TestFromBrokers(t *testing.T) {
	t.Parallel()
	b := newBrokers(t)
	if err := b.Topics.Ensure(t.Context(), schemas.TopicRawEvents); err != nil {
		t.Fatal(err)
	}
	q := FromBrokers(b)
	if _, err := q.Status(t.Context(), func(string) {}); err != nil {
		t.Errorf("status: %v", err)
	}
	if all, err := q.Deletions(t.Context()); err != nil || len(all.Requests) != 0 || all.Suppressed != 0 {
		t.Errorf("deletions: %+v, %v", all, err)
	}
	if trace, err := q.Trace(t.Context(), CallOf{MessageID: "m1", Back: time.Hour}, func(string) {}); err != nil || len(trace.Calls) != 0 {
		t.Errorf("trace: %+v, %v", trace, err)
	}
	if events, err := q.Events(t.Context(), EventsOf{User: "u1", Last: 50, Back: time.Hour}, func(string) {}); err != nil || len(events) != 0 {
		t.Errorf("events: %+v, %v", events, err)
	}
}

// TestDeadLettersFromBrokers are found, shown and sent again.
func TestDeadLettersFromBrokers(t *testing.T) {
	t.Parallel()
	b := newBrokers(t)
	if err := b.Topics.Ensure(t.Context(), schemas.TopicDeadLetters); err != nil {
		t.Fatal(err)
	}
	dead := kafka.DeadLetter(sampleLetter(0, "u1").Record, sampleLetter(0, "refused").Headers, time.Now())
	if err := b.Topics.Client.ProduceSync(t.Context(), dead).FirstErr(); err != nil {
		t.Fatal(err)
	}
	q := FromBrokers(b)
	for text, want := range map[string]int64{"": 1, "9007199254740993": 1, "nowhere": 0} {
		if found, err := q.Letters(t.Context(), LettersOf{Back: time.Hour, Text: text}, func(string) {}); err != nil || found.Read != 1 || found.Found != want || found.Cut {
			t.Errorf("dead letters with %q: %+v, %v", text, found, err)
		}
	}
	if l, err := q.Letter(t.Context(), deadletters.ID{Partition: dead.Partition}); err != nil || l.Line.Detail != "refused" || !strings.Contains(l.Body, "9007199254740993") {
		t.Errorf("one dead letter: %+v, %v", l, err)
	}
	if _, err := q.Letter(t.Context(), deadletters.ID{Partition: 0, Offset: 7}); err == nil || !strings.Contains(err.Error(), "0-7") {
		t.Errorf("a dead letter that there is not: %v", err)
	}
	checkRedrive(t, q)
}

// checkRedrive sends the one dead letter again, and not twice.
func checkRedrive(t *testing.T, q Questions) {
	t.Helper()
	of := RedriveOf{Destination: "mail", Since: time.Now().Add(-time.Hour), Rate: 100}
	for _, step := range []struct {
		dryRun bool
		want   string
	}{{true, "would redrive 1 of 1"}, {false, "redriven 1 of 1"}, {true, "would redrive 0 of 1"}} {
		if done, err := q.Redrive(t.Context(), of, step.dryRun, func(string) {}); err != nil || !strings.Contains(done, step.want) {
			t.Errorf("found %q, %v, want %s", done, err, step.want)
		}
	}
}

func TestLinksToPages(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(Path + "/destinations?q=a%26b%22&page=2")
	if err != nil {
		t.Fatal(err)
	}
	p := pager{Number: 2, Last: 3}
	p.link(u)
	if p.Before != Path+"/destinations?page=1&q=a%26b%22" || p.Next != Path+"/destinations?page=3&q=a%26b%22" {
		t.Errorf("they lead to %s and %s", p.Before, p.Next)
	}
}
