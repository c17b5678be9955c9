package ingest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
)

const shop = "https://shop.example.com"

// TestAPageCanReadEveryAnswer sends one request for each status: an answer
// without the headers of CORS is a network error to the page, and its SDK would
// send again what can never be accepted.
func TestAPageCanReadEveryAnswer(t *testing.T) {
	s := start(t, testkit.Fake(t), func(c *Config) { c.RatePerSource = 1 })
	for _, c := range []struct {
		status     int
		path, body string
		options    []func(*http.Request)
	}{
		{200, "/v1/i", oneCall, nil},
		{200, "/v1/m", `{"series":[]}`, nil},
		{400, "/v1/i", `{`, nil},
		{401, "/v1/i", oneCall, []func(*http.Request){noAuth}},
		{404, "/nowhere", oneCall, nil},
		{405, "/v1/i", "", []func(*http.Request){method(http.MethodGet)}},
		{413, "/v1/b", paddedBatch(512_001), nil},
		{415, "/v1/i", oneCall, []func(*http.Request){with("Content-Encoding", "br")}},
		{429, "/v1/b", batchOf(2500), nil},
		{503, "/v1/i", oneCall, nil},
	} {
		if c.status == http.StatusServiceUnavailable {
			s.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.TopicAuthorizationFailed})
		}
		got := s.post(t, c.path, c.body, append(c.options, with("Origin", shop))...)
		h := got.header
		if got.status != c.status || h.Get("Access-Control-Allow-Origin") != shop || h.Get("Access-Control-Expose-Headers") != "Retry-After" ||
			h.Get("Access-Control-Allow-Credentials") != "true" || h.Get("Vary") != "Origin" {
			t.Errorf("want %d, got %d %s %v", c.status, got.status, got.body, h)
		}
		again := c.status == http.StatusTooManyRequests || c.status == http.StatusServiceUnavailable
		if (h.Get("Retry-After") != "") != again {
			t.Errorf("%d: Retry-After is %q", c.status, h.Get("Retry-After"))
		}
	}
}

// TestServersAreNotToldAboutPages keeps the answers to SDKs of servers small.
func TestServersAreNotToldAboutPages(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	for name := range s.post(t, "/v1/i", oneCall).header {
		if strings.HasPrefix(name, "Access-Control") || name == "Vary" {
			t.Errorf("found %s", name)
		}
	}
}

// TestPreflights asks for every path, known or not, with a key or none, while no
// broker answers.
func TestPreflights(t *testing.T) {
	s := newStage(t, testkit.Fake(t).Options()) // not run: no broker has answered yet
	for _, path := range []string{
		"/v1/b", "/v1/batch/", "/v1/t", "/v1/track", "/v1/page", "/v1/identify", "/v1/group", "/v1/alias", "/v1/m", "/beacon/v1/batch?writeKey=wk_nobody", "/nowhere", "/",
	} {
		r := httptest.NewRequest(http.MethodOptions, path, iotest.ErrReader(errors.New("was read")))
		r.Header.Set("Origin", shop)
		r.Header.Set("Access-Control-Request-Method", http.MethodPost)
		// What RudderStack's and Segment's libraries ask for, and one that nobody has made up yet.
		const headers = "anonymousid,authorization,content-type,x-retry-count,x-new"
		r.Header.Set("Access-Control-Request-Headers", headers)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code != http.StatusNoContent || w.Body.Len() != 0 || w.Header().Get("Access-Control-Allow-Headers") != headers || w.Header().Get("Access-Control-Allow-Origin") != shop {
			t.Errorf("%s: got %d %v", path, w.Code, w.Header())
		}
	}
	if got := s.value(t, "anabranch_ingest_requests_total", "204"); got != 12 {
		t.Errorf("counted %v preflights", got)
	}
	if s.log.String() != "" {
		t.Errorf("logged %s", s.log)
	}
}

// TestTheLibrarysOwnMetricsAreDiscarded gets along without a key, brokers and the
// body.
func TestTheLibrarysOwnMetricsAreDiscarded(t *testing.T) {
	s := newStage(t, testkit.Fake(t).Options())
	for _, path := range []string{"/v1/m", "/v1/m/"} {
		r := httptest.NewRequest(http.MethodPost, path, iotest.ErrReader(errors.New("was read")))
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Body.String() != success {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
}
