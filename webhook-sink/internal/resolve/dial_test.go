package resolve

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
)

// listen counts the connections that reach a port of the loopback. It is on both
// families where the machine has both.
func listen(t *testing.T) (port string, accepted *atomic.Int64) {
	t.Helper()
	accepted = new(atomic.Int64)
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(first.Addr().String())
	listeners := []net.Listener{first}
	if second, err := net.Listen("tcp", "[::1]:"+port); err == nil {
		listeners = append(listeners, second)
	}
	var accepting sync.WaitGroup
	for _, l := range listeners {
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
	t.Cleanup(func() {
		for _, l := range listeners {
			_ = l.Close()
		}
		accepting.Wait()
	})
	return port, accepted
}

// newDialer returns a Dialer over a name server that answers from a function.
func newDialer(t *testing.T, answer func(question) reply, allowed ...string) *Dialer {
	t.Helper()
	var networks []netip.Prefix
	for _, text := range allowed {
		networks = append(networks, netip.MustParsePrefix(text))
	}
	d := NewDialer(Options{Guard: guard.New(networks), NameServer: newNameServer(answer).connect})
	t.Cleanup(d.Close)
	return d
}

// publicly lets a Dialer connect to what the guard lets through without a
// network, and keeps the addresses. To what the guard refuses it would connect in
// earnest.
func (d *Dialer) publicly() *dials {
	network, kept := d.connect, new(dials)
	d.connect = func(ctx context.Context, protocol, address string) (net.Conn, error) {
		peer := netip.MustParseAddrPort(address)
		kept.add(peer.Addr().String())
		if d.guard.CheckPeer(peer) != nil {
			return network(ctx, protocol, address)
		}
		conn, _ := net.Pipe()
		return conn, nil
	}
	return kept
}

type dials struct {
	mu  sync.Mutex
	all []string
}

func (d *dials) add(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, address)
}

func (d *dials) list() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.all)
}

func TestDialsWhatAnAllowedNameResolvesTo(t *testing.T) {
	t.Parallel()
	port, accepted := listen(t)
	d := newDialer(t, always(reply{addrs: []string{"127.0.0.1"}}), "127.0.0.0/8")
	for _, host := range []string{"hooks.example.", "127.0.0.1", "::ffff:127.0.0.1"} {
		conn, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Errorf("dial %s: %v", host, err)
			continue
		}
		_, _ = conn.Read(make([]byte, 1)) // until it was accepted
		_ = conn.Close()
	}
	if accepted.Load() != 3 {
		t.Errorf("%d connections, want 3", accepted.Load())
	}
}

func TestNamesWithoutAnAddress(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reply          reply
		denied, failed bool
	}{
		"no such name":        {reply: reply{code: noSuchName}, denied: true},
		"no address":          {denied: true},
		"server failure":      {reply: reply{code: serverFailure}, failed: true},
		"an alias of its own": {reply: reply{alias: "hooks.example"}, denied: true},
		"not DNS":             {reply: reply{raw: []byte("HTTP/1.1 400 Bad Request\r\n\r\n")}, failed: true},
		"an empty message":    {reply: reply{raw: []byte{}}, failed: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDialer(t, always(test.reply))
			_, err := d.DialContext(t.Context(), "tcp", "hooks.example.:443")
			var lookup *net.DNSError
			if !errors.As(err, &lookup) || lookup.IsNotFound != test.denied || test.failed == test.denied {
				t.Errorf("error %v (%+v), want one of a name that is denied: %t", err, lookup, test.denied)
			}
		})
	}
}

func TestAddressesThatCannotBeDialed(t *testing.T) {
	t.Parallel()
	d := newDialer(t, always(reply{addrs: []string{"127.0.0.1"}}), "127.0.0.0/8", "::/0")
	for _, address := range []string{"", "hooks.example", "hooks.example:", "hooks.example:http", "hooks.example:65536", "hooks.example:-1", ":80", "[::1:80"} {
		if conn, err := d.DialContext(t.Context(), "tcp", address); err == nil {
			t.Errorf("dial %q reached %s", address, conn.RemoteAddr())
		}
	}
}

func TestTruncatedAnswersAreAskedForOverTCP(t *testing.T) {
	t.Parallel()
	var streams atomic.Int64
	server := newNameServer(func(q question) reply {
		if q.stream {
			streams.Add(1)
		}
		return reply{addrs: []string{"93.184.215.14", "2606:4700::1111"}, over: true}
	})
	d := NewDialer(Options{Guard: guard.New(nil), NameServer: server.listen(t)})
	t.Cleanup(d.Close)
	d.publicly()
	if _, err := d.DialContext(t.Context(), "tcp", "hooks.example.:443"); err != nil {
		t.Error(err)
	}
	if streams.Load() != 2 {
		t.Errorf("%d questions over TCP, want 2", streams.Load())
	}
}

func TestFamiliesTakeTurns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ given, want []string }{
		{[]string{"1.1.1.1"}, []string{"1.1.1.1"}},
		{[]string{"::1", "::2", "::3", "1.1.1.1", "1.1.1.2"}, []string{"::1", "1.1.1.1", "::2", "1.1.1.2", "::3"}},
		{[]string{"1.1.1.1", "1.1.1.2", "::1"}, []string{"1.1.1.1", "::1", "1.1.1.2"}},
	} {
		var peers []netip.AddrPort
		for _, text := range test.given {
			peers = append(peers, netip.AddrPortFrom(netip.MustParseAddr(text), 443))
		}
		var got []string
		for _, peer := range alternate(peers) {
			got = append(got, peer.Addr().String())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("order of %v (-want +got):\n%s", test.given, diff)
		}
	}
}
