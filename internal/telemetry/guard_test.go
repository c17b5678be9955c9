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
		"this machine":                  {"", local, "127.0.0.1:8081", nil, 200},
		"this machine by name":          {"", local, "localhost:8081", nil, 200},
		"this machine by IPv6":          {"", "[::1]:50000", "[::1]:8081", nil, 200},
		"an IPv4 peer of an IPv6 port":  {"", "[::ffff:127.0.0.1]:50000", "127.0.0.1:8081", nil, 200},
		"without a port":                {"", local, "[::1]", nil, 200},
		"another machine":               {"", remote, "127.0.0.1:8081", nil, 403},
		"a token that nobody set":       {"", remote, "127.0.0.1:8081", map[string]string{"Authorization": "Bearer "}, 403},
		"no peer at all":                {"", "", "127.0.0.1:8081", nil, 403},
		"a name resolved to us":         {"", local, "evil.example:8081", nil, 403},
		"no host":                       {"", local, "", nil, 403},
		"another page's script":         {"", local, "127.0.0.1:8081", map[string]string{"Origin": "https://evil.example"}, 403},
		"another page's script, marked": {"", local, "127.0.0.1:8081", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"a proxy on this machine":       {"", local, "127.0.0.1:8081", map[string]string{"X-Forwarded-For": "127.0.0.1"}, 403},
		"another proxy":                 {"", local, "127.0.0.1:8081", map[string]string{"Forwarded": "for=127.0.0.1"}, 403},
		"the token from anywhere":       {token, remote, "admin.example", map[string]string{"Authorization": bearer, "X-Forwarded-For": "x"}, 200},
		"the scheme in lower case":      {token, remote, "admin.example", map[string]string{"Authorization": "bearer " + token.Reveal()}, 200},
		"no token from here":            {token, local, "127.0.0.1:8081", nil, 401},
		"a wrong token":                 {token, local, "127.0.0.1:8081", map[string]string{"Authorization": bearer + "x"}, 401},
		"half a token":                  {token, local, "127.0.0.1:8081", map[string]string{"Authorization": bearer[:len(bearer)-1]}, 401},
		"an empty token":                {token, local, "127.0.0.1:8081", map[string]string{"Authorization": "Bearer "}, 401},
		"another scheme":                {token, local, "127.0.0.1:8081", map[string]string{"Authorization": "Basic " + token.Reveal()}, 401},
	}
	for name, test := range tests {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if method == http.MethodGet && test.header["Origin"] != "" {
				continue // browsers send none with a GET; Sec-Fetch-Site tells
			}
			reached := false
			handler := telemetry.Guard(test.token, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
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
	route := telemetry.Route{Pattern: "/things/", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})}
	handler := telemetry.AdminHandler(prometheus.NewRegistry(), func() error { return nil }, route)
	for path, want := range map[string]int{"/things/a": http.StatusTeapot, "/healthz": http.StatusOK, "/": http.StatusNotFound} {
		if status, _ := ask(t, handler, http.MethodGet, path); status != want {
			t.Errorf("%s was answered %d, want %d", path, status, want)
		}
	}
}
