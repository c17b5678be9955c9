package resolve_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
	"github.com/anabranch/anabranch/webhook-sink/internal/resolve"
)

// What is made of a spelling: refused when a workspace is applied, a literal
// address whose events die at once, or a name whose attempts fail and repeat.
const (
	atApply = "at apply"
	literal = "literal"
	asName  = "as a name"
)

// spellings are hosts, with user information where that is the point, by which
// someone may hope to reach the loopback or what stands for it.
var spellings = []struct{ host, fate string }{
	{"127.0.0.1", literal},
	{"127.255.255.254", literal},
	{"0.0.0.0", literal},
	{"[::1]", literal},
	{"[0:0:0:0:0:0:0:1]", literal},
	{"[::]", literal},
	{"[::ffff:127.0.0.1]", literal},
	{"[::ffff:7f00:1]", literal},
	{"[0:0:0:0:0:FFFF:7F00:0001]", literal},
	{"[::127.0.0.1]", literal},              // IPv4-compatible
	{"[::ffff:0:127.0.0.1]", literal},       // IPv4-translated
	{"[64:ff9b::127.0.0.1]", literal},       // NAT64
	{"[64:ff9b:1::7f00:1]", literal},        // NAT64, local use
	{"[2002:7f00:1::]", literal},            // 6to4
	{"[2001:0:7f00:1::80ff:fffe]", literal}, // Teredo
	{"[fe80::1%25lo]", literal},
	{"[::1%25lo]", literal},
	{"[::1%251]", literal},
	{"[::ffff:127.0.0.1%25lo]", literal},
	{"good@127.0.0.1", literal},
	{"example.com:80@127.0.0.1", literal},
	{"example.com%2F@127.0.0.1", literal},
	{"127.0.0.1%2F@[::1]", literal},

	{"2130706433", asName},
	{"0x7f000001", asName},
	{"0x7F.0x0.0x0.0x1", asName},
	{"017700000001", asName},
	{"0177.0.0.1", asName},
	{"0177.0.0.01", asName},
	{"127.1", asName},
	{"127.0.1", asName},
	{"127.0.0.1.", asName},
	{"127.0.0.001", asName},
	{"127.0.0.1.nip.example", asName},
	{"localhost", asName},
	{"LOCALHOST", asName},
	{"localhost.", asName},
	{"inside.example", asName},
	{"xn--127-0.example", asName},
	{"%EF%BC%91%EF%BC%92%EF%BC%97%E3%80%82%EF%BC%90%E3%80%82%EF%BC%90%E3%80%82%EF%BC%91", asName}, // full width, percent-encoded

	{"１２７。０。０。１", atApply},
	{"①②⑦.⓪.⓪.①", atApply},
	{"127。0。0。1", atApply},
	{"ⓛocalhost", atApply},
	{"%31%32%37.0.0.1", atApply},
	{"127.0.0.1%00.example.com", atApply},
	{"127.0.0.1%20", atApply},
	{"127.0.0.1\\@example.com", atApply},
	{"127.0.0.1#@example.com", atApply},
	{"[127.0.0.1]", atApply},
	{"[::1%lo]", atApply},
	{"[::1", atApply},
	{"::1", atApply},
	{"", atApply},
}

// loopback counts connections to one port of 127.0.0.1 and, where there is one, ::1.
func loopback(tb testing.TB) (port string, accepted *atomic.Int64) {
	tb.Helper()
	accepted = new(atomic.Int64)
	var accepting sync.WaitGroup
	tb.Cleanup(accepting.Wait)
	port = "0"
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			if host == "::1" {
				break // a machine without IPv6
			}
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = l.Close() })
		_, port, _ = net.SplitHostPort(l.Addr().String())
		accepting.Go(func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				accepted.Add(1)
				_ = conn.Close()
			}
		})
	}
	return port, accepted
}

// everywhere is a name server that says of every name that it is this machine.
func everywhere(ctx context.Context, network, address string) (net.Conn, error) {
	return resolve.NameServerOf("127.0.0.1", "::1")(ctx, network, address)
}

// client returns a client of the sink whose names are those of a name server.
func client(tb testing.TB, nameServer post.DialFunc, allowed ...netip.Prefix) *post.Client {
	tb.Helper()
	g := guard.New(allowed)
	d := resolve.NewDialer(resolve.Options{Guard: g, NameServer: nameServer})
	tb.Cleanup(d.Close)
	c := post.NewClient(post.Options{Timeout: 5 * time.Second, Guard: g, Dial: d.DialContext})
	tb.Cleanup(c.Close)
	return c
}

// applied returns the endpoint that a workspace file with the URL has, or the
// error of applying it.
func applied(url string) (workspace.Endpoint, error) {
	text := fmt.Sprintf(`
sources: [{id: web, name: Web, writeKey: wk}]
destinations: [{id: crm, type: webhooks, name: CRM, sources: [web], endpoints: [{url: %q}]}]
`, url)
	snapshot, err := wsfile.Parse("workspace.yaml", []byte(text), wsfile.Lookup{})
	if err != nil {
		return workspace.Endpoint{}, err
	}
	return snapshot.Destinations()[0].Endpoints[0], nil
}

func TestSpellingsOfTheLoopback(t *testing.T) {
	t.Parallel()
	port, accepted := loopback(t)
	c := client(t, everywhere)
	for _, test := range spellings {
		for _, scheme := range []string{"http", "https"} {
			url := scheme + "://" + test.host + ":" + port + "/hook"
			endpoint, err := applied(url)
			if (err != nil) != (test.fate == atApply) {
				t.Errorf("%s: applied with error %v, want it refused %s", url, err, test.fate)
			}
			if err != nil {
				endpoint.URL = url // what another version may have written to the topic
			}
			target, err := post.NewTarget(endpoint)
			if err != nil {
				if test.fate != atApply {
					t.Errorf("%s: %v", url, err)
				}
				continue
			}
			got := c.Post(t.Context(), target, []byte("{}"), "")
			got.Cause = "" // is for the operator
			switch test.fate {
			case literal:
				if got.Verdict != outcome.Dead || got.Reason != schemas.ReasonAddressRefused {
					t.Errorf("%s: %+v, want it dead for its address", url, got)
				}
			case asName:
				if !cmp.Equal(got, unreachable) {
					t.Errorf("%s: %+v, want %+v", url, got, unreachable)
				}
			default:
				if got.Verdict == outcome.Delivered {
					t.Errorf("%s: delivered", url)
				}
			}
		}
	}
	if accepted.Load() > 0 {
		t.Errorf("%d connections reached the loopback", accepted.Load())
	}
}

// The judge above must be able to convict: where the operator allows the
// loopback, the same names and addresses reach it.
func TestAllowedSpellingsReachTheLoopback(t *testing.T) {
	t.Parallel()
	port, accepted := loopback(t)
	c := client(t, everywhere, netip.MustParsePrefix("127.0.0.0/8"))
	for i, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "inside.example", "good@127.0.0.1", "0x7f000001"} {
		target, err := post.NewTarget(workspace.Endpoint{URL: "http://" + host + ":" + port})
		if err != nil {
			t.Fatal(err)
		}
		c.Post(t.Context(), target, []byte("{}"), "")
		if got := accepted.Load(); got != int64(i+1) {
			t.Errorf("%s: %d connections, want %d", host, got, i+1)
		}
	}
}
