package console

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/testsend"
)

// shownTo is a page as a person sees it whom a proxy names.
func shownTo(t *testing.T, c *Console, target string) string {
	t.Helper()
	r := named(t, strings.TrimPrefix(target, Path), "")
	r.Method = http.MethodGet
	return serve(c, r).Body.String()
}

// TestATestDelivery: the form begins it, its page shows what was sent and what came back, and
// the log says by whom.
func TestATestDelivery(t *testing.T) {
	t.Parallel()
	var log testkit.Logs
	var asked []SendOf
	c := newConsole(t, func(set *Settings) {
		behindProxy(set)
		set.Logger = slog.New(slog.NewTextHandler(&log, nil))
		set.Questions.Send = func(_ context.Context, of SendOf, _ func(string)) (*testsend.Report, error) {
			asked = append(asked, of)
			return sampleTest("Signed Up"), nil
		}
	})
	page := shownTo(t, c, "/destination?id=crm")
	for _, want := range []string{`action="/console/test-send"`, `<option value="1">https://crm.example.com/hooks</option>`, `<option value="track">track</option>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the destination does not have %s:\n%s", want, page)
		}
	}
	w := serve(c, named(t, "/test-send", "id=crm&endpoint=1&type=page&event=+m1+&user=u1&since=1h"))
	if w.Code != http.StatusSeeOther {
		t.Fatalf("the form was answered %d: %s", w.Code, w.Body)
	}
	testkit.Until(t, func() bool { return strings.Contains(shownTo(t, c, w.Header().Get("Location")), "Done.") }, "the test to end")
	page = shownTo(t, c, w.Header().Get("Location"))
	for _, want := range []string{
		"POST /hooks?[redacted] HTTP/1.1\nX-Key: [redacted]\n\n{&#34;event&#34;:&#34;Signed Up&#34;}", "HTTP/1.1 200 OK\n\nok",
		"After 17 ms: delivered", "would become a dead letter: endpoint answered 400", "X-Said: Signed Up", "There was none.", "switched off", `href="/console/destination?id=crm"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the test does not show %s:\n%s", want, page)
		}
	}
	if diff := cmp.Diff([]SendOf{{Destination: "crm", Endpoint: 1, Type: schemas.TypePage, MessageID: "m1", User: "u1", Back: time.Hour}}, asked); diff != "" {
		t.Errorf("what was asked for (-want +got):\n%s", diff)
	}
	if line := `what="test delivery of event m1 to crm, endpoint 1" person=ada`; !strings.Contains(log.String(), line) {
		t.Errorf("the log has no %s:\n%s", line, &log)
	}
	if job := shownTo(t, c, strings.Replace(w.Header().Get("Location"), "/test-send?", "/job?", 1)); !strings.Contains(job, "&lt; HTTP/1.1 200 OK") {
		t.Errorf("the job shows %s", job)
	}
}

func TestWhatCanNotBeSentForATest(t *testing.T) {
	t.Parallel()
	c := newConsole(t, behindProxy)
	for form, status := range map[string]int{
		"id=nobody&endpoint=0&type=track&since=24h":                                        404,
		"id=crm&type=track&since=24h":                                                      400,
		"id=crm&endpoint=9&type=track&since=24h":                                           400,
		"id=crm&endpoint=0&type=shout&since=24h":                                           400,
		"id=crm&endpoint=0&type=track&since=3h":                                            400,
		"id=crm&endpoint=0&type=track&since=24h&event=" + strings.Repeat("x", maxSearch+1): 400,
	} {
		if w := serve(c, named(t, "/test-send", form)); w.Code != status {
			t.Errorf("%s was answered %d, want %d", form, w.Code, status)
		}
	}
	if w := serve(c, request(t, http.MethodGet, Path+"/test-send?id="+jobOfTest(t, c), "")); w.Code != http.StatusNotFound {
		t.Errorf("a job that is no test was answered %d", w.Code)
	}
	elsewhere := newConsole(t, func(set *Settings) {
		behindProxy(set)
		set.Questions.Send, set.Sink, set.Answers = nil, false, nil
	})
	if w := serve(elsewhere, named(t, "/test-send", forms()["/test-send"])); w.Code != http.StatusConflict {
		t.Errorf("without a sink a test was answered %d", w.Code)
	}
	page := shownTo(t, elsewhere, "/destination?id=crm")
	for _, want := range []string{"anabranch test-send crm", "/failed-answers?destination=crm"} {
		if !strings.Contains(page, want) {
			t.Errorf("without a sink the destination does not say %s:\n%s", want, page)
		}
	}
}

// TestFailedAnswers: what endpoints said is on the page of the destination, the latest first,
// and whether it is kept at all.
func TestFailedAnswers(t *testing.T) {
	t.Parallel()
	page := look(t, newConsole(t, func(set *Settings) { set.Answers = bookAbout("<b>no\u202eroom") }), Path+"/destination?id=crm")
	first, second := strings.Index(page, "2026-11-21 12:00:01Z: 503 after 1,204 ms"), strings.Index(page, "2026-11-21 12:00:00Z: 503 after 1,204 ms")
	if first < 0 || second < first || !strings.Contains(page, `&lt;b&gt;no\u202eroom</pre>`) || !strings.Contains(page, "/console/event?id=") {
		t.Errorf("the page shows\n%s", page)
	}
	if page := look(t, newConsole(t, func(set *Settings) { set.Answers = nil }), Path+"/destination?id=crm"); !strings.Contains(page, "WEBHOOK_SINK_KEEP_ANSWERS") {
		t.Errorf("where they are not kept the page shows\n%s", page)
	}
	letter := look(t, newConsole(t, nil), Path+"/dead-letter?id=1-704")
	if !strings.Contains(letter, "What the endpoint answered") || !strings.Contains(letter, ">Signed Up</pre>") {
		t.Errorf("the dead letter shows\n%s", letter)
	}
}
