package peer

import (
	"net/http"
	"net/netip"
	"slices"
)

// Addresses finds the addresses of clients. It holds no state beside its
// configuration, and is safe for concurrent use.
type Addresses struct {
	trusted []netip.Prefix
}

// New returns the Addresses of a process whose proxies live in the trusted
// networks. With none, every request comes from its connection.
func New(trusted []netip.Prefix) *Addresses {
	a := &Addresses{}
	for _, network := range trusted {
		a.trusted = append(a.trusted, plain(network))
	}
	return a
}

// plain writes a network of IPv4 addresses mapped to IPv6 as one of IPv4, which
// is how Of sees the addresses in it.
func plain(network netip.Prefix) netip.Prefix {
	const mapped = 96 // bits in front of the IPv4 address
	if network.Addr().Is4In6() && network.Bits() >= mapped {
		return netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mapped)
	}
	return network
}

// Trusts reports whether a request comes straight from a trusted proxy.
func (a *Addresses) Trusts(r *http.Request) bool {
	connection, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && a.trusts(connection.Addr().Unmap().WithZone(""))
}

// Of returns the address that a request comes from, never an IPv4 address in
// IPv6 form. It is the zero Addr when RemoteAddr is no address, which does not
// happen behind a listener on TCP.
func (a *Addresses) Of(r *http.Request) netip.Addr {
	connection, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := connection.Addr().Unmap().WithZone("")
	if !a.trusts(addr) {
		return addr
	}
	forwarded, forwardedFor := r.Header["Forwarded"], r.Header["X-Forwarded-For"]
	switch {
	case len(forwarded) == 0:
		return a.walk(addr, forwardedFor, lastOfList, readAddress)
	case len(forwardedFor) == 0:
		return a.walk(addr, forwarded, lastElement, readElement)
	}
	client := a.walk(addr, forwarded, lastElement, readElement)
	if client != a.walk(addr, forwardedFor, lastOfList, readAddress) {
		// One of them is not the proxy's, and nothing tells which.
		return addr
	}
	return client
}

// trusts reports whether what a peer says of those before it is believed.
func (a *Addresses) trusts(addr netip.Addr) bool {
	for _, network := range a.trusted {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// walk goes through the lines of a header from their end: cut takes the last
// element off a line, read finds the address in it. It begins at a trusted
// address and ends at the first that is not, or before the first that can't be
// read.
func (a *Addresses) walk(addr netip.Addr, lines []string, cut func(string) (rest, last string), read func(string) (netip.Addr, bool)) netip.Addr {
	for _, line := range slices.Backward(lines) {
		for rest := line; rest != ""; {
			var element string
			if rest, element = cut(rest); element == "" {
				continue // lists may have empty elements (RFC 9110, 5.6.1.2)
			}
			before, ok := read(element)
			if !ok {
				return addr
			}
			if addr = before; !a.trusts(addr) {
				return addr
			}
		}
	}
	return addr
}
