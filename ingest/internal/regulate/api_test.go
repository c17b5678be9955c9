package regulate

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/test/testkit"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	p := start(t, c)
	for name, a := range map[string]struct {
		method, path, body string
		status             int
		want               string
	}{
		"no JSON":           {http.MethodPost, "/regulations", "{", 400, `{"errors":[{"type":"bad-request","message":"the body is not one JSON object: offset 1:`},
		"wrong":             {http.MethodPost, "/regulations", text("FORGET", "u1"), 422, `{"errors":[{"type":"validation-error","field":"regulationType","message":"expected one of`},
		"too long":          {http.MethodPost, "/regulations", strings.Repeat(" ", maxBody+1), 413, `{"errors":[{"type":"bad-request"`},
		"another method":    {http.MethodPut, "/regulations", "", 405, `{"errors":[{"type":"method-not-allowed","message":"expected POST"}]}`},
		"a status by POST":  {http.MethodPost, "/regulations/a", "", 405, `expected GET, HEAD`},
		"an unknown id":     {http.MethodGet, "/regulations/a", "", 404, `{"errors":[{"type":"not-found"`},
		"another path":      {http.MethodGet, "/regulations/a/b", "", 404, `{"errors":[{"type":"not-found"`},
		"the longest there": {http.MethodPost, "/regulations", text(regulation.SuppressOnly, strings.Repeat("x", regulation.MaxSubjectBytes)), 200, `{"data":{"regulateId":"`},
	} {
		w := p.ask(t, a.method, a.path, a.body)
		if w.Code != a.status || !strings.Contains(w.Body.String(), a.want) {
			t.Errorf("%s: got %d %s, want %d %s", name, w.Code, w.Body, a.status, a.want)
		}
		if got := w.Header().Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: the answer is %s", name, got)
		}
	}
}

// TestStatus is the whole of an answer, with what clients of the public API expect.
func TestStatus(t *testing.T) {
	t.Parallel()
	r := regulation.New(regulation.DeleteOnly, 3, noon)
	r.ID, r.Sources, r.Notified = "a", []string{"app"}, 1
	want := status{}
	want.Data.Regulation = statusBody{
		ID: "a", WorkspaceID: "default", RegulationType: "DELETE_ONLY", Status: "INITIALIZED", OverallStatus: "INITIALIZED",
		CreatedAt: "2026-11-21T12:00:00.000Z", Subjects: 3, Notified: 1, Meaning: "notifications to delete are being written",
		StreamStatus: []streamStatus{{ID: "app", DestinationStatus: []string{}}},
	}
	if diff := cmp.Diff(want, statusOf(&r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBeforeAndAfter: a process that starts or stops does not say that there is no
// such regulation, and takes none in.
func TestBeforeAndAfter(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topics(t, c)
	p := newProcess(t, c)
	check := func(when string) {
		t.Helper()
		for _, w := range []*httptest.ResponseRecorder{
			p.ask(t, http.MethodGet, "/regulations/a", ""),
			p.ask(t, http.MethodPost, "/regulations", text(regulation.SuppressOnly, "u1")),
		} {
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
				t.Errorf("%s: answered %d", when, w.Code)
			}
		}
	}
	check("before")
	p.run(t)()
	check("after")
}
