package post

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// newProxy is a proxy that connects to upstream, whatever it is asked for.
func newProxy(t *testing.T, upstream string) (at *url.URL, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method != http.MethodConnect {
			t.Errorf("the proxy was asked to %s", r.Method)
		}
		there, err := net.Dial("tcp", upstream)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() {
			io.Copy(there, here)
			there.Close()
		}()
		io.Copy(here, there)
		here.Close()
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return at, asked
}

// TestDeliveriesGoThroughTheProxy, those to names as well as those to addresses, and the connection is used again.
func TestDeliveriesGoThroughTheProxy(t *testing.T) {
	server, seen := recorder(t, fine)
	at, asked := newProxy(t, server.Listener.Addr().String())
	client := newClient(t, Options{Proxy: at})
	target := newTarget(t, "http://hooks.example.com/in")
	for range 3 {
		if got := client.Post(t.Context(), target, []byte("{}"), ""); got.Verdict != outcome.Delivered {
			t.Fatalf("%+v", got)
		}
		<-seen
	}
	if asked.Load() != 1 {
		t.Errorf("the proxy was asked %d times for three deliveries", asked.Load())
	}
	if got := client.Post(t.Context(), newTarget(t, "http://10.0.0.1/"), []byte("{}"), ""); got.Reason != schemas.ReasonAddressRefused {
		t.Errorf("a private address by way of the proxy: %+v", got)
	}
	dead := newClient(t, Options{Proxy: at, Guard: guard.New([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})})
	server.Close()
	got := dead.Post(t.Context(), newTarget(t, "http://10.0.0.1/"), []byte("{}"), "")
	if got.Verdict != outcome.Retry || got.Reason != schemas.ReasonNetwork || got.Cause != "the proxy of WEBHOOK_SINK_PROXY answers CONNECT with 502" {
		t.Errorf("behind a proxy that can't connect: %+v", got)
	}
}

// TestOnlyHTTPS: nothing leaves for an http endpoint, and what was for it is a dead letter at once.
func TestOnlyHTTPS(t *testing.T) {
	server, seen := recorder(t, fine)
	client := newClient(t, Options{HTTPS: true, Guard: guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})})
	got := client.Post(t.Context(), newTarget(t, server.URL), []byte("{}"), "")
	if got.Verdict != outcome.Dead || got.Reason != schemas.ReasonNotHTTPS || len(seen) > 0 {
		t.Errorf("%+v, %d requests arrived", got, len(seen))
	}
	if got = client.Post(t.Context(), newTarget(t, "HTTPS"+server.URL[4:]), []byte("{}"), ""); got.Reason == schemas.ReasonNotHTTPS {
		t.Errorf("an https endpoint: %+v", got)
	}
}
