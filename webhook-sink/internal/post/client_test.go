package post

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// newClient returns a Client that is closed with the test. Its timeout is long
// unless the options say otherwise: no test waits for it.
func newClient(tb testing.TB, opts Options) *Client {
	tb.Helper()
	if opts.Timeout == 0 {
		opts.Timeout = 30 * time.Second
	}
	if opts.Idle == 0 {
		opts.Idle = 2
	}
	if opts.Guard == nil {
		opts.Guard = guard.New(nil)
	}
	client := NewClient(opts)
	tb.Cleanup(client.Close)
	return client
}

// dialTo connects to one server whatever the address, so that URLs can name
// hosts that don't exist.
func dialTo(server *httptest.Server) DialFunc {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
}

func newTarget(tb testing.TB, url string, headers ...workspace.Header) *Target {
	tb.Helper()
	target, err := NewTarget(workspace.Endpoint{URL: url, Headers: headers})
	if err != nil {
		tb.Fatal(err)
	}
	return target
}

// received is what a server saw of a request.
type received struct {
	Method, Target, Host, Body string
	Header                     http.Header
}

// recorder is a server that answers with a handler and keeps what it saw.
func recorder(tb testing.TB, answer http.HandlerFunc) (*httptest.Server, <-chan received) {
	tb.Helper()
	seen := make(chan received, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			tb.Errorf("read request: %v", err)
		}
		seen <- received{Method: r.Method, Target: r.RequestURI, Host: r.Host, Body: string(text), Header: r.Header}
		answer(w, r)
	}))
	tb.Cleanup(server.Close)
	return server, seen
}

func fine(http.ResponseWriter, *http.Request) {} // 200

func TestTheRequest(t *testing.T) {
	server, seen := recorder(t, fine)
	client := newClient(t, Options{Dial: dialTo(server)})
	base := http.Header{"User-Agent": {"Anabranch/1.0"}, "Content-Type": {"application/json"}, "Content-Length": {"7"}}
	with := func(pairs ...string) http.Header {
		header := base.Clone()
		for i := 0; i < len(pairs); i += 2 {
			header.Add(pairs[i], pairs[i+1])
		}
		return header
	}
	tests := []struct {
		name      string
		url       string
		headers   []workspace.Header
		signature string
		want      received
	}{
		{
			name: "plain", url: "http://hooks.example.com",
			want: received{Target: "/", Host: "hooks.example.com", Header: base},
		},
		{
			name: "path, query and port as configured", url: "http://hooks.example.com:8080/a%2Fb/c?x=1&y=%20#frag",
			want: received{Target: "/a%2Fb/c?x=1&y=%20", Host: "hooks.example.com:8080", Header: base},
		},
		{
			name: "signature", url: "http://hooks.example.com/", signature: "abc123",
			want: received{Target: "/", Host: "hooks.example.com", Header: with("X-Signature", "abc123")},
		},
		{
			name: "static headers", url: "http://hooks.example.com/",
			headers: []workspace.Header{{Name: "x-team", Value: "growth"}, {Name: "Authorization", Value: "Bearer t"}},
			want:    received{Target: "/", Host: "hooks.example.com", Header: with("X-Team", "growth", "Authorization", "Bearer t")},
		},
		{
			name: "user information", url: "http://user:p%40ss@hooks.example.com/",
			want: received{Target: "/", Host: "hooks.example.com", Header: with("Authorization", "Basic dXNlcjpwQHNz")},
		},
		{
			name: "a configured Authorization goes before user information", url: "http://user:pass@hooks.example.com/",
			headers: []workspace.Header{{Name: "authorization", Value: "Bearer t"}},
			want:    received{Target: "/", Host: "hooks.example.com", Header: with("Authorization", "Bearer t")},
		},
		{
			name: "ours can't be replaced", url: "http://hooks.example.com/", signature: "abc123",
			headers: []workspace.Header{
				{Name: "x-signature", Value: "forged"},
				{Name: "User-Agent", Value: "x"},
				{Name: "Content-Type", Value: "x"},
				{Name: "Idempotency-Key", Value: "x"},
				{Name: "x-idempotency-key", Value: "x"},
				{Name: "Host", Value: "x"},
			},
			want: received{Target: "/", Host: "hooks.example.com", Header: with("X-Signature", "abc123")},
		},
		{
			name: "no signature can be forged", url: "http://hooks.example.com/",
			headers: []workspace.Header{{Name: "X-Signature", Value: "forged"}},
			want:    received{Target: "/", Host: "hooks.example.com", Header: base},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result := client.Post(t.Context(), newTarget(t, test.url, test.headers...), []byte(`{"a":1}`), test.signature)
			if !cmp.Equal(result, isDelivered) {
				t.Fatalf("result %+v", result)
			}
			test.want.Method, test.want.Body = http.MethodPost, `{"a":1}`
			if diff := cmp.Diff(test.want, <-seen); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// Two requests to the same target must not see each other's signature.
func TestTargetsAreShared(t *testing.T) {
	server, seen := recorder(t, fine)
	client, target := newClient(t, Options{Dial: dialTo(server)}), newTarget(t, "http://hooks.example.com/")
	for _, signature := range []string{"one", "", "two"} {
		client.Post(t.Context(), target, []byte("{}"), signature)
		if got := (<-seen).Header.Get("X-Signature"); got != signature {
			t.Errorf("signature %q, want %q", got, signature)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		elsewhere, followed := recorder(t, fine)
		server, _ := recorder(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, code)
		})
		client := newClient(t, Options{Dial: dialTo(server)})
		result := client.Post(t.Context(), newTarget(t, "http://hooks.example.com/"), []byte("{}"), "")
		if result.Verdict != outcome.Dead || result.Reason != schemas.ReasonStatus3xx {
			t.Errorf("status %d: %+v", code, result)
		}
		if len(followed) > 0 {
			t.Errorf("status %d was followed", code)
		}
	}
}

func TestRetryAfterIsHandedOn(t *testing.T) {
	server, _ := recorder(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "42")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	client := newClient(t, Options{Dial: dialTo(server)})
	result := client.Post(t.Context(), newTarget(t, "http://hooks.example.com/"), []byte("{}"), "")
	if result.Verdict != outcome.Retry || result.RetryAfter != 42*time.Second {
		t.Errorf("result %+v", result)
	}
}

func TestUnusableEndpoints(t *testing.T) {
	for _, url := range []string{
		"", "hooks.example.com", "ftp://canary.example.com", "http://", "http:///canary", "https:canary",
		"http://user:canary@[::1/", "http://canary.example.com/%zz", "http://canary.example.com:port/", "http://a b/canary",
	} {
		_, err := NewTarget(workspace.Endpoint{URL: url})
		if err == nil {
			t.Errorf("target made of %q", url)
			continue
		}
		if got := err.Error(); got != "read endpoint: expected an http or https URL with a host" {
			t.Errorf("error %q", got)
		}
	}
}
