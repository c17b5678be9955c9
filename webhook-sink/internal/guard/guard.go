// Package guard keeps deliveries away from addresses that are not public.
//
// Customers choose the URLs, so a URL may name the cloud's metadata service, a
// database behind the firewall or this very process. A check of the host name
// is no defence: a name resolves to whatever its owner likes, and to something
// else a second later. The guard therefore looks at the one thing that can't
// lie, the literal address handed to connect(2), by way of
// net.Dialer.ControlContext.
package guard

import (
	"context"
	"net/netip"
	"slices"
	"syscall"
)

// RefusedError says that an address may not be connected to. It names the
// address, so it is for the operator's logs and never for a customer.
type RefusedError struct {
	Address netip.Addr // invalid when the dialer passed something else than a literal
}

// Error returns "address 10.0.0.1 is not public".
func (e *RefusedError) Error() string {
	return "address " + e.Address.String() + " is not public"
}

// Guard decides which addresses may be connected to: all public unicast ones,
// those inside the networks that the operator allows, and single peers. The
// zero value allows none but the first.
type Guard struct {
	allowed []netip.Prefix
	peers   []netip.AddrPort
}

// New returns a Guard that also lets the allowed networks through, and the
// peers, each on its one port: a receiver of this process is no reason to open
// the rest of the loopback. An allowed
// network written as IPv4-mapped IPv6 (::ffff:10.0.0.0/104) means the IPv4
// network, since that is what connections to either form reach.
func New(allowed []netip.Prefix, peers ...netip.AddrPort) *Guard {
	g := &Guard{allowed: make([]netip.Prefix, 0, len(allowed)), peers: peers}
	for _, prefix := range allowed {
		g.allowed = append(g.allowed, unmap(prefix))
	}
	return g
}

func unmap(prefix netip.Prefix) netip.Prefix {
	const mappedBits = 96 // the length of ::ffff:0:0/96
	if prefix.Addr().Is4In6() && prefix.Bits() >= mappedBits {
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-mappedBits)
	}
	return prefix.Masked()
}

// Check returns nil when addr may be connected to, else a [*RefusedError].
func (g *Guard) Check(addr netip.Addr) error {
	if g.allows(addr.Unmap().WithZone("")) || public(addr) {
		return nil
	}
	return &RefusedError{Address: addr}
}

func (g *Guard) allows(addr netip.Addr) bool {
	for _, prefix := range g.allowed {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// Control is a net.Dialer.ControlContext: it runs after the name was resolved
// and before the connection is made, once for each address tried. Its errors
// are of type [*RefusedError].
func (g *Guard) Control(_ context.Context, _, address string, _ syscall.RawConn) error {
	peer, err := netip.ParseAddrPort(address)
	if err != nil {
		// The dialer always passes a literal. Should that change, refusing is
		// the safe answer.
		return &RefusedError{}
	}
	return g.CheckPeer(peer)
}

// CheckPeer is [Guard.Check] for an address and a port.
func (g *Guard) CheckPeer(peer netip.AddrPort) error {
	if slices.Contains(g.peers, netip.AddrPortFrom(peer.Addr().Unmap(), peer.Port())) {
		return nil
	}
	return g.Check(peer.Addr())
}
