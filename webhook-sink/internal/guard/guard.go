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

// Error returns "address 10.0.0.1 is not public, or denied".
func (e *RefusedError) Error() string {
	return "address " + e.Address.String() + " is not public, or denied"
}

// Guard decides which addresses may be connected to: all public unicast ones but
// the machine's own and those inside the networks that the operator denies, those
// inside the networks that the operator allows, and single peers. The zero value
// allows all that are public.
type Guard struct {
	allowed, denied []netip.Prefix
	peers           []netip.AddrPort
	own             func() []netip.Addr // nil: the machine has none
}

// New returns a Guard that also lets the allowed networks through, and the
// peers, each on its one port: a receiver of this process is no reason to open
// the rest of the loopback. An allowed
// network written as IPv4-mapped IPv6 (::ffff:10.0.0.0/104) means the IPv4
// network, since that is what connections to either form reach.
func New(allowed []netip.Prefix, peers ...netip.AddrPort) *Guard {
	return &Guard{allowed: unmapAll(allowed), peers: peers}
}

// Denying returns a Guard that does not let the denied networks through, though they
// be public or allowed: a company's own public addresses trust one another. Peers
// are let through.
func (g *Guard) Denying(denied []netip.Prefix) *Guard {
	next := *g
	next.denied = unmapAll(denied)
	return &next
}

// WithOwn returns a Guard that does not let the machine's own addresses through,
// unless they are allowed: what listens on a public address of its own is often
// meant for the machine alone. own is called for each public address.
func (g *Guard) WithOwn(own func() []netip.Addr) *Guard {
	next := *g
	next.own = own
	return &next
}

func unmapAll(prefixes []netip.Prefix) []netip.Prefix {
	all := make([]netip.Prefix, len(prefixes))
	for i, prefix := range prefixes {
		all[i] = unmap(prefix)
	}
	return all
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
	plain := addr.Unmap().WithZone("")
	switch {
	case within(g.denied, plain):
	case within(g.allowed, plain):
		return nil
	case public(addr) && !g.isOwn(plain):
		return nil
	}
	return &RefusedError{Address: addr}
}

func (g *Guard) isOwn(addr netip.Addr) bool { return g.own != nil && slices.Contains(g.own(), addr) }

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

// IsPeer tells whether a peer is one of those that are let through by themselves.
func (g *Guard) IsPeer(peer netip.AddrPort) bool {
	return slices.Contains(g.peers, netip.AddrPortFrom(peer.Addr().Unmap(), peer.Port()))
}

// CheckPeer is [Guard.Check] for an address and a port.
func (g *Guard) CheckPeer(peer netip.AddrPort) error {
	if g.IsPeer(peer) {
		return nil
	}
	return g.Check(peer.Addr())
}
