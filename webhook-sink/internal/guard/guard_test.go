package guard_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
)

// special lists blocks that no delivery may go to, with the address before the
// first and the one behind the last where those are public ("" where they are
// not): the edges show a prefix that is a bit too short or too long.
var special = []struct{ block, before, behind string }{
	{"0.0.0.0/8", "", "1.0.0.0"},
	{"10.0.0.0/8", "9.255.255.255", "11.0.0.0"},
	{"100.64.0.0/10", "100.63.255.255", "100.128.0.0"},
	{"127.0.0.0/8", "126.255.255.255", "128.0.0.0"},
	{"168.63.129.16/32", "168.63.129.15", "168.63.129.17"},
	{"169.254.0.0/16", "169.253.255.255", "169.255.0.0"},
	{"172.16.0.0/12", "172.15.255.255", "172.32.0.0"},
	{"192.0.0.0/24", "191.255.255.255", "192.0.1.0"},
	{"192.0.2.0/24", "192.0.1.255", "192.0.3.0"},
	{"192.88.99.0/24", "192.88.98.255", "192.88.100.0"},
	{"192.168.0.0/16", "192.167.255.255", "192.169.0.0"},
	{"198.18.0.0/15", "198.17.255.255", "198.20.0.0"},
	{"198.51.100.0/24", "198.51.99.255", "198.51.101.0"},
	{"203.0.113.0/24", "203.0.112.255", "203.0.114.0"},
	{"224.0.0.0/4", "223.255.255.255", ""},
	{"240.0.0.0/4", "", ""},
	{"255.255.255.255/32", "", ""},

	{"::/128", "", ""},
	{"::1/128", "", ""},
	{"::/96", "", ""},               // IPv4-compatible
	{"::ffff:0:0:0/96", "", ""},     // IPv4-translated
	{"64:ff9b::/96", "", ""},        // NAT64
	{"64:ff9b:1::/48", "", ""},      // NAT64, local use
	{"100::/64", "", ""},            // discard-only
	{"100:0:0:1::/64", "", ""},      // dummy
	{"2001::/32", "", ""},           // Teredo
	{"2001:1::1/128", "", ""},       // port control anycast
	{"2001:2::/48", "", ""},         // benchmarking
	{"2001:10::/28", "", ""},        // ORCHID
	{"2001:20::/28", "", ""},        // ORCHIDv2
	{"2001::/23", "", "2001:200::"}, // IETF protocol assignments; before lies 2000:ffff::, not allotted but global
	{"2001:db8::/32", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
	{"2002::/16", "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"},
	{"3fff::/20", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
	{"4000::/3", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""}, // not global unicast
	{"::/3", "", "2000::"}, // not global unicast
	{"5f00::/16", "", ""},  // SRv6
	{"fc00::/7", "", ""},   // unique local
	{"fe80::/10", "", ""},  // link-local
	{"fec0::/10", "", ""},  // site-local
	{"ff00::/8", "", ""},   // multicast
}

func last(block netip.Prefix) netip.Addr {
	bytes := block.Addr().AsSlice()
	for bit := block.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	addr, _ := netip.AddrFromSlice(bytes)
	return addr
}

func refused(g *guard.Guard, addr netip.Addr) bool { return g.Check(addr) != nil }

func TestSpecialBlocksAreRefused(t *testing.T) {
	g := guard.New(nil)
	for _, test := range special {
		block := netip.MustParsePrefix(test.block)
		first, end := block.Addr(), last(block)
		for _, addr := range []netip.Addr{first, first.Next(), end, end.Prev()} {
			if block.Contains(addr) && !refused(g, addr) {
				t.Errorf("%s of %s passes", addr, block)
			}
			if mapped := netip.AddrFrom16(addr.As16()); block.Contains(addr) && !refused(g, mapped) {
				t.Errorf("%s of %s passes", mapped, block)
			}
		}
		if test.before != "" {
			wantPublic(t, g, test.before)
			if first.Prev() != netip.MustParseAddr(test.before) {
				t.Errorf("%s does not lie before %s", test.before, block)
			}
		}
		if test.behind != "" {
			wantPublic(t, g, test.behind)
			if end.Next() != netip.MustParseAddr(test.behind) {
				t.Errorf("%s does not lie behind %s", test.behind, block)
			}
		}
	}
}

func wantPublic(t *testing.T, g *guard.Guard, text string) {
	t.Helper()
	addr := netip.MustParseAddr(text)
	if refused(g, addr) {
		t.Errorf("%s is refused", addr)
	}
	if mapped := netip.AddrFrom16(addr.As16()); addr.Is4() && refused(g, mapped) {
		t.Errorf("%s is refused", mapped)
	}
}

func TestPublicAddressesPass(t *testing.T) {
	g := guard.New(nil)
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "93.184.215.14", "2606:4700:4700::1111", "2a00:1450:4001:82a::200e", "2400:cb00::1"} {
		wantPublic(t, g, text)
	}
}

func TestAddressesWithAZoneAreRefused(t *testing.T) {
	g := guard.New(nil)
	for _, text := range []string{"fe80::1%eth0", "2606:4700:4700::1111%eth0", "::ffff:1.1.1.1%eth0"} {
		if !refused(g, netip.MustParseAddr(text)) {
			t.Errorf("%s passes", text)
		}
	}
}

func TestTheInvalidAddressIsRefused(t *testing.T) {
	if !refused(guard.New(nil), netip.Addr{}) {
		t.Error("the zero Addr passes")
	}
}

func TestAllowedNetworksPass(t *testing.T) {
	tests := []struct {
		allowed      string
		pass, refuse []string
	}{
		{"10.1.0.0/16", []string{"10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3"}, []string{"10.0.255.255", "10.2.0.0", "127.0.0.1", "::10.1.2.3", "64:ff9b::a01:203"}},
		{"10.1.2.3/16", []string{"10.1.200.1"}, []string{"10.2.0.0"}}, // host bits set
		{"::ffff:10.1.0.0/112", []string{"10.1.2.3", "::ffff:10.1.2.3"}, []string{"10.2.0.0"}},
		{"127.0.0.1/32", []string{"127.0.0.1"}, []string{"127.0.0.2", "::1"}},
		{"::1/128", []string{"::1"}, []string{"127.0.0.1", "::2"}},
		{"fd00::/8", []string{"fd12::1"}, []string{"fc00::1"}},
		{"fe80::/10", []string{"fe80::1%eth0", "fe80::1"}, []string{"fec0::1"}},
		{"64:ff9b::/96", []string{"64:ff9b::a00:1"}, []string{"10.0.0.1", "64:ff9b:1::1"}},
		{"::ffff:0:0/95", nil, []string{"10.0.0.1", "::ffff:10.0.0.1"}}, // wider than IPv4: means no IPv4 network
	}
	for _, test := range tests {
		g := guard.New([]netip.Prefix{netip.MustParsePrefix("192.168.77.0/24"), netip.MustParsePrefix(test.allowed)})
		for _, text := range test.pass {
			if refused(g, netip.MustParseAddr(text)) {
				t.Errorf("allowed %s: %s is refused", test.allowed, text)
			}
		}
		for _, text := range test.refuse {
			if !refused(g, netip.MustParseAddr(text)) {
				t.Errorf("allowed %s: %s passes", test.allowed, text)
			}
		}
		wantPublic(t, g, "1.1.1.1")
	}
}

func TestControlReadsTheDialedAddress(t *testing.T) {
	g := guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	for address, want := range map[string]bool{
		"1.1.1.1:443": true, "[2606:4700:4700::1111]:443": true, "127.0.0.1:80": true,
		"10.0.0.1:80": false, "[::1]:80": false, "[fe80::1%lo]:80": false, "[::ffff:10.0.0.1]:80": false,
		"localhost:80": false, "": false, "1.1.1.1": false, // never a literal with a port: refused, to be safe
	} {
		err := g.Control(t.Context(), "tcp", address, nil)
		if (err == nil) != want {
			t.Errorf("control %q: %v", address, err)
		}
		var typed *guard.RefusedError
		if err != nil && !errors.As(err, &typed) {
			t.Errorf("control %q: error of type %T", address, err)
		}
	}
}

func TestRefusalNamesTheAddressForTheOperator(t *testing.T) {
	err := guard.New(nil).Check(netip.MustParseAddr("10.0.0.1"))
	if err == nil || !strings.Contains(err.Error(), "10.0.0.1") {
		t.Errorf("error %v", err)
	}
}

// A peer opens one port of one address, in either of its spellings.
func TestPeerOpensNothingBesideIt(t *testing.T) {
	t.Parallel()
	g := guard.New(nil, netip.MustParseAddrPort("127.0.0.1:8082"))
	for address, want := range map[string]bool{
		"127.0.0.1:8082":          true,
		"[::ffff:127.0.0.1]:8082": true,
		"127.0.0.1:8081":          false,
		"127.0.0.2:8082":          false,
		"[::1]:8082":              false,
	} {
		if got := g.Control(t.Context(), "tcp", address, nil) == nil; got != want {
			t.Errorf("dial %s passes: %t, want %t", address, got, want)
		}
	}
}

func TestDeniedNetworksAreRefused(t *testing.T) {
	g := guard.New([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, netip.MustParseAddrPort("127.0.0.1:8082")).
		Denying([]netip.Prefix{netip.MustParsePrefix("93.184.0.0/16"), netip.MustParsePrefix("2606:4700::/32"), netip.MustParsePrefix("10.9.0.0/16"), netip.MustParsePrefix("127.0.0.0/8")})
	for text, want := range map[string]bool{
		"93.184.215.14": false, "::ffff:93.184.215.14": false, "2606:4700:4700::1111": false, "10.9.1.1": false,
		"93.185.0.1": true, "1.1.1.1": true, "10.8.1.1": true, "2a00:1450:4001:82a::200e": true,
	} {
		if got := g.Check(netip.MustParseAddr(text)) == nil; got != want {
			t.Errorf("%s passes: %t, want %t", text, got, want)
		}
	}
	if err := g.CheckPeer(netip.MustParseAddrPort("127.0.0.1:8082")); err != nil {
		t.Errorf("the receiver of the process itself is refused: %v", err)
	}
}

// TestTheMachineItselfIsRefused by its public addresses too, unless they are allowed.
func TestTheMachineItselfIsRefused(t *testing.T) {
	own := func() []netip.Addr {
		return []netip.Addr{netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("2606:4700:4700::1111"), netip.MustParseAddr("93.184.215.15")}
	}
	g := guard.New([]netip.Prefix{netip.MustParsePrefix("93.184.215.15/32")}).WithOwn(own)
	for text, want := range map[string]bool{
		"93.184.215.14": false, "::ffff:93.184.215.14": false, "2606:4700:4700::1111": false,
		"93.184.215.15": true, "93.184.215.16": true, "2606:4700:4700::1112": true,
	} {
		if got := g.Check(netip.MustParseAddr(text)) == nil; got != want {
			t.Errorf("%s passes: %t, want %t", text, got, want)
		}
	}
}
