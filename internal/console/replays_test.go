package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/router/replay"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// has fails unless a page has all of some texts.
func has(t *testing.T, page string, all ...string) {
	t.Helper()
	for _, text := range all {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not have %q:\n%s", text, page)
		}
	}
}

func TestReplaysAreListed(t *testing.T) {
	t.Parallel()
	c := newConsole(t, nil)
	page := look(t, c, Path+"/replays")
	has(t, page, `href="/console/replay?id=r2"`, "running", "50%", "1,204", "done", "100%", "more.ndjson", "under way or interrupted", "anabranch import start")
	if strings.Index(page, "r2") > strings.Index(page, "r1") {
		t.Error("the last one is not the first")
	}
	has(t, look(t, c, Path+"/replay?id=r2"), "50% read", "1m", "Signed Up", "3 copy")
	if w := serve(c, request(t, http.MethodGet, Path+"/replay?id=none", "")); w.Code != http.StatusNotFound {
		t.Errorf("a replay that there is not was answered %d", w.Code)
	}
}

// TestAReplayIsPlannedAndStarted: what it would do is shown with the difference, and what is
// started is what was planned.
func TestAReplayIsPlannedAndStarted(t *testing.T) {
	t.Parallel()
	var log testkit.Logs
	var started, asked []ReplayOf
	c := newConsole(t, func(set *Settings) {
		behindProxy(set)
		set.Logger = slog.New(slog.NewTextHandler(&log, nil))
		set.Questions.Forecast = func(_ context.Context, of ReplayOf, _ func(string)) (*replay.Forecast, error) {
			asked = append(asked, of)
			return sampleForecast(), nil
		}
		set.Questions.StartReplay = func(_ context.Context, of ReplayOf) (string, error) {
			started = append(started, of)
			return "r2", nil
		}
	})
	const query = "from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00.5Z&destination=crm&type=track&event=Signed+Up&user=u1&only=missing&rate=200"
	page := seen(t, c, "/replay/plan?"+query)
	has(t, page, "1,000", "track 990", "7 copy", ">900<", ">100<", "Start the replay", "5s at the rate", `name="from" value="2026-11-20T00:00:00Z"`, `name="only" value="missing"`, `value="200"`)
	w := serve(c, named(t, "/replay/start", query))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != replayPath("r2") {
		t.Fatalf("the form was answered %d, to %s: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	want := ReplayOf{
		From: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 21, 0, 0, 0, 500_000_000, time.UTC), Rate: 200,
		Choice: replay.Choice{Destination: "crm", Type: schemas.TypeTrack, Event: "Signed Up", User: "u1", Missing: true},
	}
	if diff := cmp.Diff([]ReplayOf{want}, started); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
	want.Rate = 1
	if diff := cmp.Diff([]ReplayOf{want}, asked); diff != "" {
		t.Errorf("planned (-want +got):\n%s", diff)
	}
	has(t, log.String(), `what="replay r2" person=ada`)
}

func TestAReplayIsSteered(t *testing.T) {
	t.Parallel()
	var log testkit.Logs
	var changes []ReplayChange
	c := newConsole(t, func(set *Settings) {
		behindProxy(set)
		set.Logger = slog.New(slog.NewTextHandler(&log, nil))
		set.Questions.SteerReplay = func(_ context.Context, _ string, change ReplayChange) error {
			changes = append(changes, change)
			return nil
		}
	})
	has(t, seen(t, c, "/replay?id=r2"), `value="pause"`, `value="cancel"`, `value="rate"`)
	if page := seen(t, c, "/replay?id=r1"); strings.Contains(page, "<form method=\"post\" action=\"/console/replay/steer\"") {
		t.Errorf("one that is done can be steered:\n%s", page)
	}
	for _, form := range []string{"do=pause", "do=resume", "do=cancel", "do=rate&rate=200"} {
		if w := serve(c, named(t, "/replay/steer", "id=r2&"+form)); w.Code != http.StatusSeeOther {
			t.Errorf("%s was answered %d: %s", form, w.Code, w.Body)
		}
	}
	want := []ReplayChange{{Wish: replay.Paused}, {Wish: replay.Running}, {Wish: replay.Cancelled}, {Rate: 200}}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	has(t, log.String(), `what="pause of replay r2" person=ada`, `what="end of replay r2" person=ada`, `what="rate of 200 events/s for replay r2" person=ada`)
}

func TestWhatCannotBeReplayed(t *testing.T) {
	t.Parallel()
	c := newConsole(t, behindProxy)
	for form, want := range map[string]string{
		"source=Web":                               "expected the id of a source",
		"type=delete":                              "expected one of",
		"event=x&type=page":                        "only calls of type track",
		"from=tomorrow":                            "expected a duration back",
		"from=2026-11-21&to=2026-11-20":            "begins before it ends",
		"rate=0":                                   "1 to 50,000",
		"offset=x&partition=0":                     "the place of an event",
		"offset=1&partition=0&at=2026-11-21":       "the place of an event",
		"user=" + strings.Repeat("x", maxSearch+1): "more than",
	} {
		if w := serve(c, named(t, "/replay/start", form)); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.40s was answered %d without %q", form, w.Code, want)
		}
	}
	for _, form := range []string{"id=r2&do=rate&rate=x", "id=r2&do=stop", "id=r2"} {
		if w := serve(c, named(t, "/replay/steer", form)); w.Code != http.StatusBadRequest {
			t.Errorf("%s was answered %d", form, w.Code)
		}
	}
}

// TestWhatIsStartedIsWhatWasPlanned: the fields of a plan's form mean what was asked for.
func TestWhatIsStartedIsWhatWasPlanned(t *testing.T) {
	t.Parallel()
	now := noon.Add(17 * time.Second)
	for _, query := range []string{
		"", "from=24h", "from=&to=1h", "from=2026-11-20&destination=crm&type=track&event=a%26b&user=u%3D1&only=missing",
		"offset=7&partition=3&at=2026-11-21T11:00:00.123Z&destination=crm",
	} {
		form, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		planned, err := replayOf(form, now)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		form = make(url.Values)
		for name, value := range planned.fields() {
			form.Set(name, value)
		}
		if started, err := replayOf(form, now.Add(time.Minute)); err != nil || started != planned {
			t.Errorf("%s: planned %+v, started %+v, %v", query, planned, started, err)
		}
	}
}
