package resolve

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
)

const (
	// maxTried bounds the addresses of one name that are tried: an answer of
	// DNS has room for thousands.
	maxTried = 8
	// headStart is how long an address may take before the next one is tried
	// beside it (RFC 8305, section 5, recommends 250 ms).
	headStart = 250 * time.Millisecond
)

// dialFunc makes a connection, as net.Dialer.DialContext does.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Options are what a Dialer is made of.
type Options struct {
	Guard *guard.Guard // decides which addresses may be connected to
	// NameServer connects to a name server; the guard does not look there. Nil:
	// the network. Tests put a name server of their own here.
	NameServer func(ctx context.Context, network, address string) (net.Conn, error)
}

// Dialer connects to hosts, each given by name or by address. It may be used by
// many goroutines.
type Dialer struct {
	guard   *guard.Guard
	names   *names
	connect dialFunc // to a literal address
}

// NewDialer returns a Dialer that has asked nothing yet.
func NewDialer(opts Options) *Dialer {
	return &Dialer{
		guard: opts.Guard,
		names: newNames(lookup(opts.NameServer)),
		connect: (&net.Dialer{
			KeepAlive:      -1, // no connection is idle for as long as its probes wait
			ControlContext: opts.Guard.Control,
		}).DialContext,
	}
}

// Close ends the look-ups that are under way and waits for them. Dials that need
// another one fail from now on.
func (d *Dialer) Close() { d.names.close() }

// DialContext connects to address, "host:port" with a decimal port, as
// net.Dialer.DialContext does. It has no bound but ctx. Its errors hold a
// [*guard.RefusedError] when none of the host's addresses may be connected to, and
// a [*net.DNSError] when there is no address.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, &net.AddrError{Err: "port is not a number", Addr: address}
	}
	if literal, notLiteral := netip.ParseAddr(host); notLiteral == nil {
		return d.connect(ctx, network, netip.AddrPortFrom(literal, uint16(port)).String())
	}
	addrs, err := d.names.find(ctx, host)
	if err != nil {
		return nil, err
	}
	peers, err := d.permitted(addrs, uint16(port))
	if err != nil {
		return nil, err
	}
	return d.race(ctx, network, peers)
}

// permitted returns those addresses that the guard lets through, in the order in
// which they are tried; if there is none, why. The guard looks again at connect:
// here it saves the sockets.
func (d *Dialer) permitted(addrs []netip.Addr, port uint16) ([]netip.AddrPort, error) {
	var refusal error
	peers := make([]netip.AddrPort, 0, maxTried)
	for _, addr := range addrs {
		peer := netip.AddrPortFrom(addr, port)
		if err := d.guard.CheckPeer(peer); err != nil {
			refusal = err
			continue
		}
		peers = append(peers, peer)
	}
	if len(peers) == 0 {
		return nil, refusal
	}
	peers = alternate(peers)
	return peers[:min(len(peers), maxTried)], nil
}

// alternate orders addresses so that families take turns, beginning with that of
// the first: a host that is unreachable over one of them costs one head start.
func alternate(peers []netip.AddrPort) []netip.AddrPort {
	var first, second []netip.AddrPort
	for _, peer := range peers {
		if peer.Addr().Is4() == peers[0].Addr().Is4() {
			first = append(first, peer)
		} else {
			second = append(second, peer)
		}
	}
	ordered := make([]netip.AddrPort, 0, len(peers))
	for i := range max(len(first), len(second)) {
		if i < len(first) {
			ordered = append(ordered, first[i])
		}
		if i < len(second) {
			ordered = append(ordered, second[i])
		}
	}
	return ordered
}
