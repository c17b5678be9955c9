package ingest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/testkit"
)

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// TestWrongKeysAreRefusedUnread has an address send wrong keys in bodies until these
// are no longer looked at.
func TestWrongKeysAreRefusedUnread(t *testing.T) {
	s := start(t, testkit.Brokers(t), func(c *Config) { c.BadKeysPerMinute = 2 })
	const wrong, good = `{"userId":"u","writeKey":"wk_nobody"}`, `{"userId":"u","writeKey":"` + goodKey + `"}`
	for range 2 {
		if got := s.post(t, "/v1/i", wrong, noAuth); got.status != http.StatusUnauthorized {
			t.Errorf("a wrong key: got %d %s", got.status, got.body)
		}
	}
	refused := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/v1/i", unread{t})
	r.RemoteAddr = "127.0.0.1:4711"
	s.handler.ServeHTTP(refused, r)
	if refused.Code != http.StatusTooManyRequests || refused.Header().Get("Retry-After") != "30" {
		t.Errorf("got %d %s, Retry-After %q", refused.Code, refused.Body, refused.Header().Get("Retry-After"))
	}
	for name, option := range map[string]func(*http.Request){
		"in the header": func(*http.Request) {},
		"in the query":  func(r *http.Request) { noAuth(r); r.URL.RawQuery = "writeKey=" + goodKey },
	} {
		if got := s.post(t, "/v1/i", good, option); got.body != success {
			t.Errorf("a good key %s: got %d %s", name, got.status, got.body)
		}
	}
	// A good key in the query yields to the body's.
	if got := s.post(t, "/v1/i?writeKey="+goodKey, wrong, noAuth); got.status != http.StatusTooManyRequests {
		t.Errorf("two keys: got %d %s", got.status, got.body)
	}
	s.stored(t, 2)
}

// TestWhoHasNoKeyCostsNoParser tells by the answer whether a body was parsed.
func TestWhoHasNoKeyCostsNoParser(t *testing.T) {
	s := start(t, testkit.Fake(t))
	for body, want := range map[string]int{
		`{"userId":"u",`:                         http.StatusUnauthorized,
		`{"userId":"u","writeKey":"wk_nobody",`:  http.StatusUnauthorized,
		`{"userId":"u","writeKey":"` + goodKey:   http.StatusUnauthorized,
		`{"userId":"u","writeKey":"wk_website",`: http.StatusBadRequest,
		``:                                       http.StatusUnauthorized,
		`{"a":[{"writeKey":"` + goodKey + `"}]}`: http.StatusUnauthorized,
		`{"writeKey":"wk_nobody","a":{"writeKey":"` + goodKey + `"}}`: http.StatusUnauthorized,
	} {
		for how, sent := range map[string]string{"plain": body, "gzip": compress(body)} {
			if got := s.post(t, "/v1/i", sent, noAuth); got.status != want {
				t.Errorf("%s, %s: got %d %s, want %d", body, how, got.status, got.body, want)
			}
		}
	}
}

// connection is the answer to a client that sends a part of its body and then
// nothing.
type connection struct {
	httptest.ResponseRecorder
	deadlines chan time.Time
}

func (c *connection) SetReadDeadline(t time.Time) error {
	c.deadlines <- t
	return nil
}

// silence is the body's rest: it ends with the deadline of the connection.
type silence struct{ of *connection }

func (s silence) Read([]byte) (int, error) {
	if wait := time.Until(<-s.of.deadlines); wait < time.Second || wait > 5*time.Second {
		return 0, io.ErrUnexpectedEOF
	}
	return 0, os.ErrDeadlineExceeded
}

// TestASilentClientGetsADeadline sees that the one who waits for a body reaches the
// connection that it comes from.
func TestASilentClientGetsADeadline(t *testing.T) {
	s := start(t, testkit.Fake(t))
	c := &connection{ResponseRecorder: *httptest.NewRecorder(), deadlines: make(chan time.Time, 100)}
	r := httptest.NewRequest(http.MethodPost, "/v1/batch", io.MultiReader(strings.NewReader(strings.Repeat(" ", 4096)), silence{c}))
	s.handler.ServeHTTP(c, r)
	if c.Code != http.StatusRequestTimeout {
		t.Errorf("got %d %s", c.Code, c.Body)
	}
	if !strings.Contains(s.log.String(), os.ErrDeadlineExceeded.Error()) {
		t.Errorf("logged %s", s.log)
	}
}
