package command

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestHealthcheckAsksAdminAddr: what a container engine runs takes its address
// from the same environment as the stage beside it.
func TestHealthcheckAsksAdminAddr(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.Path
		w.WriteHeader(http.StatusOK)
	}))
	defer server.Close()
	t.Setenv("ADMIN_ADDR", server.Listener.Addr().String())
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	if out, err := typed(t, "healthcheck"); err != nil || out != "" {
		t.Errorf("healthcheck of a ready process: %v, printed %q, want neither", err, out)
	}
	if asked != "GET /readyz" {
		t.Errorf("asked for %q, want GET /readyz", asked)
	}
}

func TestHealthcheckSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"not ready": {
			func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "waiting for the brokers", http.StatusServiceUnavailable)
			},
			"answers 503 Service Unavailable: waiting for the brokers",
		},
		"another server": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) },
			"answers 302 Found",
		},
		"a long text": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
				io.WriteString(w, strings.Repeat("x", 1<<20))
			},
			"answers 500",
		},
		"a broken answer": {
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			"EOF",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.answer)
			defer server.Close()
			err := healthcheck(t.Context(), server.URL)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q in it", err, c.want)
			}
			if len(err.Error()) > 2*maxHealthText {
				t.Errorf("the error has %d bytes, want a few lines", len(err.Error()))
			}
		})
	}
}

// TestHealthcheckGivesUp: an engine counts a check that hangs as failed only after
// a time of its own, and runs no other meanwhile.
func TestHealthcheckGivesUp(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := healthcheck(ctx, silent.URL); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that never answers: %v, want a deadline exceeded", err)
	}
}

func TestHealthcheckRefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://127.0.0.1:1/readyz", "://", "127.0.0.1"} {
		if err := healthcheck(t.Context(), url); err == nil {
			t.Errorf("healthcheck of %q is content", url)
		}
	}
}

func TestReachable(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"0.0.0.0:8081":   "localhost:8081",
		"[::]:8081":      "localhost:8081",
		":8081":          "localhost:8081",
		"127.0.0.1:8081": "127.0.0.1:8081",
		"10.0.0.5:9":     "10.0.0.5:9",
		"admin:80":       "admin:80",
		"8081":           "8081",
	} {
		if got := reachable(listen); got != want {
			t.Errorf("a process that listens on %s is asked at %s, want %s", listen, got, want)
		}
	}
}

func TestAnswersHealthz(t *testing.T) {
	t.Parallel()
	var passed []string
	handler := answersHealthz(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		passed = append(passed, r.Method+" "+r.URL.Path)
		w.WriteHeader(http.StatusTeapot)
	}))
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{http.MethodGet, "/healthz", http.StatusOK},
		{http.MethodPost, "/healthz", http.StatusTeapot},
		{http.MethodPost, "/hooks//events", http.StatusTeapot},
		{http.MethodGet, "/any/path", http.StatusTeapot},
	} {
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, httptest.NewRequest(c.method, c.path, nil))
		if rec.Code != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, rec.Code, c.want)
		}
	}
	if got := strings.Join(passed, ", "); got != "POST /healthz, POST /hooks//events, GET /any/path" {
		t.Errorf("the handler behind got %s", got)
	}
}
