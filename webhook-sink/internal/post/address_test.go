package post

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

func TestLiteralAddressesAreRefusedForGood(t *testing.T) {
	server, seen := recorder(t, fine)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := newClient(t, Options{})
	for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "[::ffff:7f00:1]", "0.0.0.0", "10.0.0.1", "169.254.169.254", "[fe80::1%25lo]"} {
		for _, scheme := range []string{"http", "https"} {
			got := client.Post(t.Context(), newTarget(t, scheme+"://"+host+":"+port+"/"), []byte("{}"), "")
			if got.Verdict != outcome.Dead || got.Reason != schemas.ReasonAddressRefused || got.Detail != detailAddress {
				t.Errorf("%s %s: %+v", scheme, host, got)
			}
			if !strings.Contains(got.Cause, " is not public") || !strings.Contains(got.Cause, "WEBHOOK_SINK_ALLOW_NETWORKS") {
				t.Errorf("%s: cause %q does not help the operator", host, got.Cause)
			}
		}
	}
	if len(seen) > 0 {
		t.Errorf("%d requests arrived", len(seen))
	}
}

// What a customer reads must be the same whether a port behind a refused address
// is open, closed or not there at all.
func TestNamesOfRefusedAddressesTellNothing(t *testing.T) {
	server, seen := recorder(t, fine)
	_, open, _ := net.SplitHostPort(server.Listener.Addr().String())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, closed, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()

	guarded := newClient(t, Options{})
	allowed := newClient(t, Options{Guard: guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")})})
	for name, result := range map[string]outcome.Outcome{
		"refused, open":   guarded.Post(t.Context(), newTarget(t, "http://localhost:"+open), []byte("{}"), ""),
		"refused, closed": guarded.Post(t.Context(), newTarget(t, "http://localhost:"+closed), []byte("{}"), ""),
		"refused, TLS":    guarded.Post(t.Context(), newTarget(t, "https://localhost:"+open), []byte("{}"), ""),
		"allowed, closed": allowed.Post(t.Context(), newTarget(t, "http://localhost:"+closed), []byte("{}"), ""),
	} {
		result.Cause = "" // is for the operator
		if !cmp.Equal(result, isNetwork) {
			t.Errorf("%s: %+v", name, result)
		}
	}
	if len(seen) > 0 {
		t.Errorf("%d requests arrived", len(seen))
	}
	if got := allowed.Post(t.Context(), newTarget(t, "http://localhost:"+open), []byte("{}"), ""); !cmp.Equal(got, isDelivered) {
		t.Errorf("allowed, open: %+v", got)
	}
}

// To Go these are names. Should a resolver take them for addresses, as the C
// library's does, the guard sees the result.
func TestOddSpellingsOfLoopback(t *testing.T) {
	server, seen := recorder(t, fine)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	client := newClient(t, Options{Timeout: 200 * time.Millisecond}) // some resolvers ask the network
	for _, host := range []string{"2130706433", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "127.1", "127.0.1", "127.0.0.1.", "①②⑦.⓪.⓪.①"} {
		got := client.Post(t.Context(), newTarget(t, "http://"+host+":"+port+"/"), []byte("{}"), "")
		if got.Verdict != outcome.Retry {
			t.Errorf("%s: %+v", host, got)
		}
	}
	if len(seen) > 0 {
		t.Errorf("%d requests arrived", len(seen))
	}
}
