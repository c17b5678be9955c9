package telemetry_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/schemas"
)

const token schemas.Secret = "s3cret-token"

// TestGuard: a token alone opens it. What comes straight from this machine and what comes by way of a proxy on it
// can look the same, as nginx's proxy_pass and HAProxy send requests when nothing more is configured.
func TestGuard(t *testing.T) {
	const local, remote = "127.0.0.1:50000", "192.0.2.7:50000"
	bearer := "Bearer " + token.Reveal()
	tests := map[string]struct {
		token  schemas.Secret
		peer   string
		host   string
		header map[string]string
		want   int
	}{
		"nobody set a token":       {"", local, "127.0.0.1:8081", nil, 403},
		"that from elsewhere":      {"", remote, "127.0.0.1:8081", nil, 403},
		"that, and an empty one":   {"", remote, "127.0.0.1:8081", map[string]string{"Authorization": "Bearer "}, 403},
		"this machine":             {token, local, "127.0.0.1:8081", nil, 401},
		"nginx, as it comes":       {token, local, "localhost:8081", map[string]string{"Connection": "close"}, 401},
		"HAProxy, as it comes":     {token, local, "127.0.0.1:8081", map[string]string{"Accept": "*/*"}, 401},
		"the token from anywhere":  {token, remote, "admin.example", map[string]string{"Authorization": bearer, "X-Forwarded-For": "x"}, 200},
		"the scheme in lower case": {token, remote, "admin.example", map[string]string{"Authorization": "bearer " + token.Reveal()}, 200},
		"a wrong token":            {token, local, "127.0.0.1:8081", map[string]string{"Authorization": bearer + "x"}, 401},
		"half a token":             {token, local, "127.0.0.1:8081", map[string]string{"Authorization": bearer[:len(bearer)-1]}, 401},
		"an empty token":           {token, local, "127.0.0.1:8081", map[string]string{"Authorization": "Bearer "}, 401},
		"another scheme":           {token, local, "127.0.0.1:8081", map[string]string{"Authorization": "Basic " + token.Reveal()}, 401},
	}
	for name, test := range tests {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			reached := false
			handler := telemetry.RequireToken(test.token, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
			r := httptest.NewRequestWithContext(t.Context(), method, "/regulations", nil)
			r.RemoteAddr, r.Host = test.peer, test.host
			for key, value := range test.header {
				r.Header.Set(key, value)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != test.want || reached != (test.want == http.StatusOK) {
				t.Errorf("%s: %s was answered %d, want %d", name, method, w.Code, test.want)
			}
			checkRefusal(t, name, w)
		}
	}
}

// TestPagesInABrowserCanNotReadTheAdminPages of the machine that it runs on.
func TestPagesInABrowserCanNotReadTheAdminPages(t *testing.T) {
	const local, remote = "127.0.0.1:50000", "192.0.2.7:50000"
	tests := map[string]struct {
		peer, host, site string
		want             int
	}{
		"this machine":               {local, "127.0.0.1:8081", "", 200},
		"by name":                    {local, "localhost:8081", "", 200},
		"by IPv6":                    {"[::1]:50000", "[::1]:8081", "", 200},
		"typed in":                   {local, "localhost:8081", "none", 200},
		"a link on the page":         {local, "localhost:8081", "same-origin", 200},
		"a probe without a host":     {local, "", "", 200},
		"a probe of Kubernetes":      {remote, "10.0.0.7:8081", "", 200},
		"a scrape by name":           {remote, "anabranch.example:8081", "", 200},
		"a name resolved to us":      {local, "evil.example:8081", "", 403},
		"the same by IPv6":           {"[::1]:50000", "evil.example", "same-origin", 403},
		"a mapped address":           {"[::ffff:127.0.0.1]:50000", "evil.example", "", 403},
		"another page's script":      {local, "127.0.0.1:8081", "cross-site", 403},
		"another port of ours":       {local, "127.0.0.1:8081", "same-site", 403},
		"a name that looks like us":  {local, "127.0.0.1.evil.example:8081", "", 403},
		"a name that begins like us": {local, "localhost.evil.example:8081", "", 403},
	}
	handler := admin(prometheus.NewRegistry(), nil)
	for name, test := range tests {
		for _, path := range []string{"/", "/metrics", "/debug/pprof/heap"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			r.RemoteAddr, r.Host = test.peer, test.host
			if test.site != "" {
				r.Header.Set("Sec-Fetch-Site", test.site)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != test.want {
				t.Errorf("%s: %s was answered %d, want %d", name, path, w.Code, test.want)
			}
		}
	}
}

// checkRefusal holds a refusal to its shape; it never tells the token.
func checkRefusal(t *testing.T, name string, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code == http.StatusOK {
		return
	}
	var body struct {
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || len(body.Errors) != 1 || body.Errors[0].Message == "" {
		t.Errorf("%s: the refusal is %s", name, w.Body)
	}
	if strings.Contains(w.Body.String(), token.Reveal()) {
		t.Errorf("%s: the refusal tells the token", name)
	}
	if challenged := w.Header().Get("WWW-Authenticate") == "Bearer"; challenged != (w.Code == http.StatusUnauthorized) {
		t.Errorf("%s: %d with the challenge %q", name, w.Code, w.Header().Get("WWW-Authenticate"))
	}
}

func TestAdminRoutes(t *testing.T) {
	route := telemetry.Route{Page: telemetry.Page{Path: "/things", About: "things"}, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})}
	handler := admin(prometheus.NewRegistry(), []telemetry.Route{route})
	for path, want := range map[string]int{"/things": http.StatusTeapot, "/things/a": http.StatusTeapot, "/healthz": http.StatusOK, "/thing": http.StatusNotFound} {
		if status, _ := ask(t, handler, http.MethodGet, path); status != want {
			t.Errorf("%s was answered %d, want %d", path, status, want)
		}
	}
	if _, text := ask(t, handler, http.MethodGet, "/"); !strings.Contains(text, "/things          things\n") {
		t.Errorf("the index does not have the page: %s", text)
	}
}
