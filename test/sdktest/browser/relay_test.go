package browser

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// behind starts a relay in front of a collection API.
func behind(t *testing.T, secure bool, answer http.HandlerFunc) *relay {
	t.Helper()
	return behindFailing(t, secure, answer, func(error) {})
}

func behindFailing(t *testing.T, secure bool, answer http.HandlerFunc, fail context.CancelCauseFunc) *relay {
	t.Helper()
	api := httptest.NewServer(answer)
	t.Cleanup(api.Close)
	r, err := startRelay(api.URL, secure, fail)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// status answers with the status that the path names.
func status(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/cut":
		panic(http.ErrAbortHandler)
	case "/503":
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	case "/429":
		w.WriteHeader(http.StatusTooManyRequests)
	case "/400":
		w.WriteHeader(http.StatusBadRequest)
	case "/204":
		w.WriteHeader(http.StatusNoContent)
	}
}

// do makes a request, once, and returns the answer's status and header.
func do(t *testing.T, method, url, body string) (int, http.Header, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	return resp.StatusCode, resp.Header, resp.Body.Close()
}

func TestRelayRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		refused      bool
	}{
		"accepted":             {http.MethodPost, "/200", false},
		"preflight":            {http.MethodOptions, "/204", false},
		"come back later":      {http.MethodPost, "/503", false},
		"too many":             {http.MethodPost, "/429", false},
		"cut":                  {http.MethodPost, "/cut", false},
		"invalid":              {http.MethodPost, "/400", true},
		"preflight refused":    {http.MethodOptions, "/400", true},
		"preflight put off":    {http.MethodOptions, "/503", true},
		"preflight, too often": {http.MethodOptions, "/429", true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, fail := context.WithCancelCause(t.Context())
			r := behindFailing(t, false, status, fail)
			if _, _, err := do(t, c.method, r.url()+c.path, "{}"); (err != nil) != (c.path == "/cut") {
				t.Errorf("request: %v; only a cut connection shall come through as one", err)
			}
			if got := r.refusals(); (len(got) > 0) != c.refused {
				t.Errorf("refusals: %q, expected any: %t", got, c.refused)
			}
			if ended := errors.Is(context.Cause(ctx), errRefused); ended != c.refused {
				t.Errorf("the visit was ended: %t, expected %t", ended, c.refused)
			}
		})
	}
}

func TestRelayChangesNothing(t *testing.T) {
	var got *http.Request
	var body []byte
	r := behind(t, false, func(w http.ResponseWriter, req *http.Request) {
		got = req
		body, _ = io.ReadAll(req.Body)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	code, header, err := do(t, http.MethodPost, r.url()+"/beacon/v1/batch?writeKey=k", `{"batch":[]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got.URL.RequestURI() != "/beacon/v1/batch?writeKey=k" || string(body) != `{"batch":[]}` || "http://"+got.Host != r.url() {
		t.Errorf("the API got %s with %s for host %s", got.URL, body, got.Host)
	}
	if got.Header.Get("X-Forwarded-For") != "" {
		t.Error("the API is told of a proxy: it would fill context.ip otherwise than for a browser without one")
	}
	if code != http.StatusServiceUnavailable || header.Get("Retry-After") != "7" {
		t.Errorf("the browser got %d, Retry-After %q", code, header.Get("Retry-After"))
	}
}

func TestSecureRelaySpeaksHTTP2(t *testing.T) {
	r := behind(t, true, status)
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Post(r.url()+"/200", "text/plain", strings.NewReader(`{"a":"mark"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.ProtoMajor != 2 || !strings.HasPrefix(r.url(), "https://127.0.0.1:") {
		t.Errorf("%s answered by %s, expected HTTP/2 on 127.0.0.1", r.url(), resp.Proto)
	}
	if err := r.wait(t.Context(), []scenario.Call{{Mark: "mark"}}); err != nil {
		t.Error(err)
	}
}

func TestRelayWaitsForEachCall(t *testing.T) {
	r := behind(t, false, status)
	calls := []scenario.Call{{Mark: "one"}, {Mark: "two"}, {Mark: "three"}}
	done := make(chan error)
	go func() { done <- r.wait(t.Context(), calls) }()
	for _, request := range []struct{ path, body string }{
		{"/200", `{"properties":{"call":"two"}}`},
		{"/503", `{"properties":{"call":"three"}}`}, // counts for nothing
		{"/200", `{"batch":[{"properties":{"call":"one"}},{"previousId":"three"}]}`},
	} {
		select {
		case err := <-done:
			t.Fatalf("wait: %v before %s", err, request.body)
		default:
		}
		if _, _, err := do(t, http.MethodPost, r.url()+request.path, request.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Errorf("wait: %v", err)
	}
}

func TestRelayNamesWhatIsMissing(t *testing.T) {
	r := behind(t, false, status)
	if _, _, err := do(t, http.MethodPost, r.url()+"/200", `{"call":"crowd-1"}`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the page has gone")
	cancel(why)
	err := r.wait(ctx, []scenario.Call{{Mark: "crowd"}, {Mark: "crowd-1"}, {Mark: "crowd-11"}})
	if !errors.Is(err, why) || !strings.Contains(err.Error(), "crowd, crowd-11:") {
		t.Errorf("wait: %v, expected it to name crowd and crowd-11: a mark within another is none", err)
	}
}

func TestStartRelayReadsItsTarget(t *testing.T) {
	if _, err := startRelay("http://[", false, nil); err == nil || !strings.Contains(err.Error(), "read endpoint") {
		t.Errorf("startRelay: %v", err)
	}
}

func TestMissingKeepsTheOrder(t *testing.T) {
	r := behind(t, false, status)
	got, _ := r.missing([]scenario.Call{{Mark: "b"}, {Mark: "a"}})
	if want := []string{"b", "a"}; !slices.Equal(got, want) {
		t.Errorf("missing: %q, expected %q", got, want)
	}
}
