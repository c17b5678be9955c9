package guard

import (
	"net/netip"
	"slices"
)

// special4 are the IPv4 blocks that are not public unicast: the entries of the
// IANA special-purpose registry that are not globally reachable, with multicast
// and the reserved class E. The Is… methods of netip know less than half.
// 192.0.0.0/24 goes whole, although two of its addresses (port control and
// TURN anycast) are reachable: no webhook lives there.
var special4 = prefixes(
	"0.0.0.0/8",        // "this network"; Linux connects 0.0.0.0 to itself
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT; clouds put internal services here
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // the wire server of Azure, reached from every virtual machine there
	"169.254.0.0/16",   // link-local; the metadata services of clouds
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // IETF protocol assignments
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays, deprecated
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarking
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, with the broadcast address
)

// global6 is all of IPv6 that is allocated as global unicast. Starting from it
// refuses at once loopback, the unspecified address, IPv4-compatible (::/96) and
// IPv4-translated addresses, NAT64 (64:ff9b::/96 and 64:ff9b:1::/48),
// discard-only (100::/64), SRv6 (5f00::/16), unique local, link-local,
// site-local and multicast, and whatever is allotted outside in years to come.
var global6 = netip.MustParsePrefix("2000::/3")

// special6 are the blocks inside global6 that are not public unicast. The
// translation prefixes are refused whole: to decode the IPv4 address inside and
// judge that instead would trust a relay to decode it the same way.
var special6 = prefixes(
	"2001::/23",     // IETF protocol assignments: Teredo, benchmarking, ORCHID, ORCHIDv2, AMT
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4
	"3fff::/20",     // documentation
)

// Closed returns the blocks that are not public, in the order of their addresses: IPv4's, and those inside of the one block of
// IPv6 that is. What else guards an installation's way out has to know them too.
func Closed() (ipv4 []netip.Prefix, public6 netip.Prefix, ipv6 []netip.Prefix) {
	return slices.Clone(special4), global6, slices.Clone(special6)
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// public reports whether addr is a public unicast address. An IPv4-mapped
// address is judged as the IPv4 address that the kernel connects to.
func public(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return false // a zone names a link, so the address means something on that link only
	}
	addr = addr.Unmap()
	if addr.Is4() {
		return !within(special4, addr)
	}
	return global6.Contains(addr) && !within(special6, addr)
}

func within(list []netip.Prefix, addr netip.Addr) bool {
	for _, prefix := range list {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}
