package resolve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
)

// The answer that the attempt was allowed on is worth nothing a moment later.
func TestNamesThatChangeTheirAnswer(t *testing.T) {
	t.Parallel()
	port, accepted := listen(t)
	for _, inside := range []string{"127.0.0.1", "::1", "0.0.0.0", "::ffff:127.0.0.1"} {
		var asked atomic.Int64
		d := newDialer(t, func(q question) reply {
			addr := "93.184.215.14"
			if asked.Load() > 0 {
				addr = inside
			}
			return reply{addrs: []string{addr}}
		})
		kept := d.publicly()
		address := "hooks.example.:" + port
		if _, err := d.DialContext(t.Context(), "tcp", address); err != nil {
			t.Fatal(err)
		}
		asked.Add(1)
		d.names.forget()
		var refused *guard.RefusedError
		if _, err := d.DialContext(t.Context(), "tcp", address); !errors.As(err, &refused) {
			t.Errorf("%s: error %v, want a refusal", inside, err)
		}
		if diff := cmp.Diff([]string{"93.184.215.14"}, kept.list()); diff != "" {
			t.Errorf("%s: addresses dialed (-want +got):\n%s", inside, diff)
		}
	}
	if accepted.Load() > 0 {
		t.Errorf("%d connections reached the loopback", accepted.Load())
	}
}

// forget is time going by for the memory of answers.
func (n *names) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.known)
}

// The guard of net.Dialer is there whatever the filter before it lets through.
func TestTheGuardHasTheLastWord(t *testing.T) {
	t.Parallel()
	port, accepted := listen(t)
	d := newDialer(t, always(reply{}))
	for _, inside := range []string{"127.0.0.1", "::1", "0.0.0.0", "::ffff:127.0.0.1", "::"} {
		peer := netip.MustParseAddrPort(net.JoinHostPort(inside, port))
		_, err := d.race(t.Context(), "tcp", []netip.AddrPort{peer, peer})
		if _, refused := errors.AsType[*guard.RefusedError](err); !refused {
			t.Errorf("%s: error %v, want a refusal", inside, err)
		}
	}
	if accepted.Load() > 0 {
		t.Errorf("%d connections reached the loopback", accepted.Load())
	}
}

func TestOnlyThePublicOnesOfManyAddressesAreTried(t *testing.T) {
	t.Parallel()
	d := newDialer(t, always(reply{addrs: []string{
		"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "64:ff9b::7f00:1", "2002:7f00:1::", "93.184.215.14", "::ffff:10.0.0.1", "2606:4700::1111",
	}}))
	kept := d.publicly()
	unreachable := errors.New("unreachable")
	record := d.connect
	d.connect = func(ctx context.Context, network, address string) (net.Conn, error) {
		_, _ = record(ctx, network, address)
		return nil, unreachable
	}
	if _, err := d.DialContext(t.Context(), "tcp", "hooks.example.:443"); !errors.Is(err, unreachable) {
		t.Errorf("error %v", err)
	}
	got := kept.list()
	slices.Sort(got)
	if diff := cmp.Diff([]string{"2606:4700::1111", "93.184.215.14"}, got); diff != "" {
		t.Errorf("addresses dialed (-want +got):\n%s", diff)
	}
}

// An answer of thousands of addresses is a handful of connects, and none when
// all of them are refused.
func TestHugeAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		format string
		want   int
	}{
		"public":  {"93.184.%d.%d", maxTried},
		"private": {"10.0.%d.%d", 0},
	} {
		var addrs []string
		for i := range 2000 {
			addrs = append(addrs, fmt.Sprintf(test.format, i/256, i%256))
		}
		d := newDialer(t, always(reply{addrs: addrs}))
		var tried atomic.Int64
		d.connect = func(context.Context, string, string) (net.Conn, error) {
			tried.Add(1)
			return nil, errors.New("unreachable")
		}
		if _, err := d.DialContext(t.Context(), "tcp", "hooks.example.:443"); err == nil {
			t.Errorf("%s: no error", name)
		}
		if tried.Load() != int64(test.want) {
			t.Errorf("%s: %d addresses tried, want %d", name, tried.Load(), test.want)
		}
	}
}
