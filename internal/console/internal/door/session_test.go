package door

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

func holding(t *testing.T, value string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r.AddCookie(&http.Cookie{Name: cookieName, Value: value})
	return r
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s sessions
		value := s.begin("ada", time.Now())
		virtual.Sleep(sessionLife - time.Second)
		if name, in := s.find(holding(t, value), time.Now()); !in || name != "ada" {
			t.Errorf("before its end the session is of %q", name)
		}
		virtual.Sleep(time.Second)
		if _, in := s.find(holding(t, value), time.Now()); in {
			t.Error("the session goes on beyond its end")
		}
		s.begin("eve", time.Now())
		if len(s.live) != 1 {
			t.Errorf("%d sessions are kept, of which one goes on", len(s.live))
		}
	})
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	var s sessions
	now := time.Now()
	first := s.begin("first", now)
	last := ""
	for i := range maxSessions + 10 {
		last = s.begin("ada", now.Add(time.Duration(i/2)*time.Second))
	}
	if len(s.live) != maxSessions {
		t.Errorf("%d sessions are kept", len(s.live))
	}
	if _, in := s.find(holding(t, first), now); in {
		t.Error("the oldest session did not make room")
	}
	if _, in := s.find(holding(t, last), now); !in {
		t.Error("the newest session made room")
	}
}

func TestNobodyHasAnEmptySession(t *testing.T) {
	t.Parallel()
	var s sessions
	if _, in := s.find(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody), time.Now()); in {
		t.Error("a request without a cookie has a session")
	}
	if _, in := s.end(holding(t, "")); in {
		t.Error("an empty cookie has a session")
	}
}
