package resolve_test

import (
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
	"github.com/anabranch/anabranch/webhook-sink/internal/resolve"
)

// unreachable is all that a customer reads of a name that leads nowhere.
var unreachable = outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonNetwork, Detail: "connection failed or was interrupted"}

// What a customer reads of a name is the same whether it does not exist, leads
// inside to an open or a closed port, or leads to a public address where nobody
// listens.
func TestFailuresTellNothingOfTheInside(t *testing.T) {
	t.Parallel()
	open, accepted := loopback(t)
	unused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, closed, _ := net.SplitHostPort(unused.Addr().String())
	_ = unused.Close()

	inside := client(t, everywhere)
	for name, test := range map[string]struct {
		client *post.Client
		url    string
	}{
		"inside, open":             {inside, "http://a.example:" + open},
		"inside, closed":           {inside, "http://a.example:" + closed},
		"inside, open, TLS":        {inside, "https://a.example:" + open},
		"inside, closed, TLS":      {inside, "https://a.example:" + closed},
		"inside, behind redirect":  {inside, "http://a.example:" + open + "/moved"},
		"no such name":             {client(t, resolve.NameServerDenying()), "http://a.example:" + open},
		"a name server that fails": {client(t, resolve.NameServerFailing()), "http://a.example:" + open},
		"allowed, closed":          {client(t, everywhere, netip.MustParsePrefix("127.0.0.0/8")), "http://a.example:" + closed},
	} {
		target, err := post.NewTarget(workspace.Endpoint{URL: test.url})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got := test.client.Post(t.Context(), target, []byte("{}"), "")
		took := time.Since(began)
		got.Cause = "" // is for the operator
		if !cmp.Equal(got, unreachable) {
			t.Errorf("%s: %+v, want %+v", name, got, unreachable)
		}
		// All end at once, far from what a packet that nobody answers would take.
		if took > time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
	if accepted.Load() > 0 {
		t.Errorf("%d connections reached the loopback", accepted.Load())
	}
}

// A proxy would resolve the name itself, out of the guard's sight.
func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	proxy, proxied := loopback(t)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "http://127.0.0.1:"+proxy)
	}
	request, err := http.NewRequest(http.MethodPost, "http://hooks.example/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if through, _ := http.ProxyFromEnvironment(request); through == nil {
		t.Fatal("the environment names no proxy to net/http, so this test shows nothing")
	}
	direct, reached := loopback(t)
	c := client(t, everywhere, netip.MustParsePrefix("127.0.0.0/8"))
	for _, scheme := range []string{"http", "https"} {
		target, err := post.NewTarget(workspace.Endpoint{URL: scheme + "://hooks.example:" + direct})
		if err != nil {
			t.Fatal(err)
		}
		c.Post(t.Context(), target, []byte("{}"), "")
	}
	if proxied.Load() > 0 || reached.Load() < 2 {
		t.Errorf("%d connections to the proxy and %d to the endpoint, want 0 and 2", proxied.Load(), reached.Load())
	}
}
