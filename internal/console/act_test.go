package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/apply"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/testsend"
)

// forms is one for each action.
func forms() map[string]string {
	return map[string]string{
		"/redrive": "destination=mail&from=2026-11-21T12:00:00Z&rate=50", "/job": "id=none",
		"/resync":       "key=buyers&destination=mail&rate=50",
		"/replay/start": "from=2026-11-20&to=2026-11-21", "/replay/steer": "id=r2&do=pause",
		"/test-send":         "id=crm&endpoint=0&type=track&since=24h",
		"/destination/pause": "id=crm", "/destination/resume": "id=crm",
		"/workspace/plan": "file=sources:%20[]%0Adestinations:%20[]", "/workspace/apply": "id=none",
	}
}

// named is a request of a person whom a proxy names.
func named(t *testing.T, target, form string, fields ...string) *http.Request {
	t.Helper()
	r := request(t, http.MethodPost, Path+target, form, append([]string{"X-Forwarded-User", "ada"}, fields...)...)
	r.RemoteAddr = remote
	return r
}

// behindProxy trusts a proxy elsewhere.
func behindProxy(set *Settings) { set.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} }

// TestActionsAreSafe: nothing is done for who has no name, on the word of another site, or
// where nothing may be.
func TestActionsAreSafe(t *testing.T) {
	t.Parallel()
	done := 0
	counting := func(set *Settings) {
		behindProxy(set)
		set.Questions.Redrive = func(_ context.Context, _ RedriveOf, dryRun bool, _ func(string)) (string, error) {
			if !dryRun {
				done++
			}
			return "", nil
		}
		set.Questions.Pause = func(context.Context, string, string) error { done++; return nil }
		set.Questions.Resume = func(context.Context, string) error { done++; return nil }
		set.Questions.PlanWorkspace = func(context.Context, *workspace.Snapshot) (*WorkspacePlan, error) { done++; return nil, nil }
		set.Questions.ApplyWorkspace = func(context.Context, *apply.Plan, func(string)) (string, error) { done++; return "", nil }
		set.Questions.StartReplay = func(context.Context, ReplayOf) (string, error) { done++; return "r3", nil }
		set.Questions.SteerReplay = func(context.Context, string, ReplayChange) error { done++; return nil }
		set.Questions.Send = func(context.Context, SendOf, func(string)) (*testsend.Report, error) {
			done++
			return sampleTest(""), nil
		}
	}
	c := newConsole(t, counting)
	readOnly := newConsole(t, func(set *Settings) {
		counting(set)
		set.ReadOnly = true
	})
	if len(forms()) != len(c.actions()) {
		t.Errorf("%d actions, and forms for %d", len(c.actions()), len(forms()))
	}
	for target, form := range forms() {
		for name, r := range map[string]*http.Request{
			"without a name": request(t, http.MethodPost, Path+target, form),
			"by nobody": func() *http.Request {
				r := request(t, http.MethodPost, Path+target, form)
				r.RemoteAddr = remote
				return r
			}(),
			"of another site":     named(t, target, form, "Sec-Fetch-Site", "cross-site"),
			"of another origin":   named(t, target, form, "Origin", "https://evil.example"),
			"larger than any":     named(t, target, form+"&x="+strings.Repeat("x", maxFileForm)),
			"by way of the query": request(t, http.MethodGet, Path+target+"?"+form, "", "X-HTTP-Method-Override", "POST"),
		} {
			if w := serve(c, r); w.Code == http.StatusSeeOther {
				t.Errorf("%s: a form %s was answered %d to %s", target, name, w.Code, w.Header().Get("Location"))
			}
		}
		if w := serve(readOnly, named(t, target, form)); w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: CONSOLE_READ_ONLY is set, and it was answered %d", target, w.Code)
		}
	}
	c.jobs.Close()
	readOnly.jobs.Close()
	if done != 0 {
		t.Errorf("%d were done", done)
	}
}

// TestARedrive: what it would do is shown, then it is done, and the log says by whom.
func TestARedrive(t *testing.T) {
	t.Parallel()
	var log testkit.Logs
	var asked []RedriveOf
	goOn := make(chan struct{})
	c := newConsole(t, func(set *Settings) {
		behindProxy(set)
		set.Logger = slog.New(slog.NewTextHandler(&log, nil))
		set.Questions.Redrive = func(ctx context.Context, of RedriveOf, dryRun bool, say func(string)) (string, error) {
			asked = append(asked, of)
			if dryRun {
				return "would redrive 10 of 12 dead letters", nil
			}
			say("redriven 5/10")
			select {
			case <-goOn:
				return "redriven 10 of 12 dead letters", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	})
	plan := named(t, "/redrive?destination=mail&reason=timeout&since=168h", "")
	plan.Method = http.MethodGet
	page := serve(c, plan).Body.String()
	for _, want := range []string{"would redrive 10 of 12", `name="destination" value="mail"`, `name="reason" value="timeout"`, `name="from"`, "Send also what was redriven before"} {
		if !strings.Contains(page, want) {
			t.Errorf("the plan does not have %s:\n%s", want, page)
		}
	}
	w := serve(c, named(t, "/redrive", "destination=mail&reason=timeout&from=2026-11-14T12:00:00.5Z&rate=50"))
	if w.Code != http.StatusSeeOther {
		t.Fatalf("the form was answered %d: %s", w.Code, w.Body)
	}
	job := func() string {
		r := named(t, strings.TrimPrefix(w.Header().Get("Location"), Path), "")
		r.Method = http.MethodGet
		return serve(c, r).Body.String()
	}
	testkit.Until(t, func() bool { return strings.Contains(job(), "redriven 5/10") }, "the job to say how far it is")
	if again := serve(c, named(t, "/redrive", "id=1-704")); again.Code != http.StatusConflict || !strings.Contains(again.Body.String(), "begun by ada") {
		t.Errorf("a second one at the same time was answered %d", again.Code)
	}
	close(goOn)
	testkit.Until(t, func() bool { return strings.Contains(job(), "redriven 10 of 12") }, "the job to say what it did")
	want := []RedriveOf{
		{Destination: "mail", Reason: schemas.ReasonTimeout, Since: asked[0].Since, Rate: 1},
		{Destination: "mail", Reason: schemas.ReasonTimeout, Since: time.Date(2026, 11, 14, 12, 0, 0, 500_000_000, time.UTC), Rate: 50},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("what was asked for (-want +got):\n%s", diff)
	}
	if line := `what="redrive of dead letters of mail with timeout since 2026-11-14 12:00:00Z at 50 a second" person=ada`; !strings.Contains(log.String(), line) {
		t.Errorf("the log has no %s:\n%s", line, &log)
	}
}

func TestAJobIsCancelled(t *testing.T) {
	t.Parallel()
	var log testkit.Logs
	c := newConsole(t, func(set *Settings) {
		behindProxy(set)
		set.Logger = slog.New(slog.NewTextHandler(&log, nil))
		set.Questions.Redrive = func(ctx context.Context, _ RedriveOf, _ bool, _ func(string)) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		}
	})
	w := serve(c, named(t, "/redrive", "id=1-704"))
	u, err := url.Parse(w.Header().Get("Location"))
	if err != nil || w.Code != http.StatusSeeOther {
		t.Fatalf("the form was answered %d, %v", w.Code, err)
	}
	if w = serve(c, named(t, "/job", "id="+u.Query().Get("id"))); w.Code != http.StatusSeeOther {
		t.Fatalf("the cancelling was answered %d", w.Code)
	}
	testkit.Until(t, func() bool { return strings.Contains(look(t, c, u.RequestURI()), "It ended early.") }, "the job to have ended")
	if page := look(t, c, Path+"/jobs"); !strings.Contains(page, "redrive of dead letter 1-704") || !strings.Contains(page, "ended early") {
		t.Errorf("the list is\n%s", page)
	}
	if w = serve(c, named(t, "/job", "id=none")); w.Code != http.StatusNotFound {
		t.Errorf("one that there is not was answered %d", w.Code)
	}
	if w = serve(c, request(t, http.MethodGet, Path+"/job?id=none", "")); w.Code != http.StatusNotFound {
		t.Errorf("its page was answered %d", w.Code)
	}
	if !strings.Contains(log.String(), "cancelled") {
		t.Errorf("the log is\n%s", &log)
	}
}

// TestWhatCanNotBeRedriven: a form that was not made by the plan is held to the same rules.
func TestWhatCanNotBeRedriven(t *testing.T) {
	t.Parallel()
	c := newConsole(t, behindProxy)
	for form, want := range map[string]string{
		"destination=CRM":           "lower-case letters",
		"reason=none":               "expected one of",
		"id=1_2":                    "expected the id of a dead letter",
		"rate=0":                    "1 to 10000",
		"rate=x":                    "1 to 10000",
		"from=x":                    "expected a duration back",
		"from=2999-01-01T00:00:00Z": "not in the future",
		"again=tomorrow":            "expected a duration back",
	} {
		if w := serve(c, named(t, "/redrive", form)); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s was answered %d without %q", form, w.Code, want)
		}
	}
	if len(c.jobs.All()) != 0 {
		t.Error("something was begun")
	}
}
