package telemetry_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/telemetry"
)

// ask sends one request to an admin handler and returns status and body.
func ask(t *testing.T, handler http.Handler, method, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return w.Code, w.Body.String()
}

// admin returns the pages of a process that is ready.
func admin(gatherer prometheus.Gatherer, routes []telemetry.Route) http.Handler {
	a := telemetry.Admin{Gatherer: gatherer, Ready: func() error { return nil }, Profiles: true, Routes: routes}
	return a.Handler()
}

func TestAdminPages(t *testing.T) {
	registry := telemetry.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "anabranch_test_total", Help: "Counts."})
	registry.MustRegister(counter)
	handler := admin(registry, nil)

	tests := map[string]struct {
		method, path string
		status       int
		body         string
	}{
		"own metric":        {http.MethodGet, "/metrics", 200, "anabranch_test_total 0"},
		"metric of Go":      {http.MethodGet, "/metrics", 200, "go_goroutines"},
		"metric of process": {http.MethodGet, "/metrics", 200, "process_start_time_seconds"},
		"health":            {http.MethodGet, "/healthz", 200, "ok\n"},
		"head of health":    {http.MethodHead, "/healthz", 200, ""},
		"ready":             {http.MethodGet, "/readyz", 200, "ready\n"},
		"profiles":          {http.MethodGet, "/debug/pprof/", 200, "goroutine"},
		"one profile":       {http.MethodGet, "/debug/pprof/goroutine?debug=1", 200, "goroutine profile: total"},
		"command line":      {http.MethodGet, "/debug/pprof/cmdline", 200, "telemetry"},
		"symbols":           {http.MethodPost, "/debug/pprof/symbol", 200, "num_symbols"},
		"all there are":     {http.MethodGet, "/", 200, "/metrics "},
		"unknown":           {http.MethodGet, "/secrets", 404, ""},
		"nothing to post":   {http.MethodPost, "/healthz", 405, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status, body := ask(t, handler, test.method, test.path)
			if status != test.status || !strings.Contains(body, test.body) {
				t.Errorf("%s %s = %d %.100q, want %d with %q", test.method, test.path, status, body, test.status, test.body)
			}
		})
	}
}

// TestTheIndexIsTrue: what it lists is there, and profiles only where they are switched on.
func TestTheIndexIsTrue(t *testing.T) {
	handler := admin(telemetry.NewRegistry(), nil)
	for _, page := range telemetry.Pages() {
		if status, _ := ask(t, handler, http.MethodGet, page.Path); status != http.StatusOK {
			t.Errorf("%s was answered %d", page.Path, status)
		}
	}
	without := telemetry.Admin{Gatherer: prometheus.NewRegistry(), Ready: func() error { return nil }}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline", "/debug/pprof/trace"} {
		if status, _ := ask(t, without.Handler(), http.MethodGet, path); status != http.StatusNotFound {
			t.Errorf("%s was answered %d with profiles switched off", path, status)
		}
	}
}

func TestReadyzSaysWhatIsMissing(t *testing.T) {
	var missing error
	handler := (&telemetry.Admin{Gatherer: prometheus.NewRegistry(), Ready: func() error { return missing }}).Handler()
	steps := []struct {
		missing error
		status  int
		body    string
	}{
		{errors.New("router: no partitions\nsink: topics unknown"), 503, "router: no partitions\nsink: topics unknown\n"},
		{nil, 200, "ready\n"},
		{errors.New("router: brokers unreachable"), 503, "router: brokers unreachable\n"},
	}
	for _, step := range steps {
		missing = step.missing
		status, body := ask(t, handler, http.MethodGet, "/readyz")
		if status != step.status || body != step.body {
			t.Errorf("with %v: %d %q, want %d %q", step.missing, status, body, step.status, step.body)
		}
	}
}

func TestReadyzIsNotCached(t *testing.T) {
	handler := admin(prometheus.NewRegistry(), nil)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	if got := w.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control = %q, want no-store", got)
	}
}

func TestRegistriesAreIndependent(t *testing.T) {
	counter := prometheus.CounterOpts{Name: "anabranch_test_total", Help: "Counts."}
	for range 2 {
		if err := telemetry.NewRegistry().Register(prometheus.NewCounter(counter)); err != nil {
			t.Errorf("Register: %v; two processes must fit into one test", err)
		}
	}
}
