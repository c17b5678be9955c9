package guard_test

import (
	"net/netip"
	"testing"

	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
)

// global says a second time, in bytes and without prefixes, which addresses are
// public unicast. ip has 4 or 16 bytes.
func global(ip []byte) bool {
	if len(ip) == 4 {
		return global4(ip[0], ip[1], ip[2], ip[3])
	}
	mapped := true
	for i, b := range ip[:12] {
		want := byte(0)
		if i >= 10 {
			want = 0xff
		}
		mapped = mapped && b == want
	}
	if mapped {
		return global4(ip[12], ip[13], ip[14], ip[15])
	}
	return global6(uint16(ip[0])<<8|uint16(ip[1]), uint16(ip[2])<<8|uint16(ip[3]))
}

func global4(a, b, c, d byte) bool {
	switch a {
	case 0, 10, 127:
		return false
	case 100:
		return b < 64 || b > 127
	case 168:
		return b != 63 || c != 129 || d != 16
	case 169:
		return b != 254
	case 172:
		return b < 16 || b > 31
	case 192, 198, 203:
		return globalByThree(a, b, c)
	default:
		return a < 224
	}
}

func globalByThree(a, b, c byte) bool {
	switch [2]byte{a, b} {
	case [2]byte{192, 168}, [2]byte{198, 18}, [2]byte{198, 19}:
		return false
	case [2]byte{192, 0}:
		return c != 0 && c != 2
	case [2]byte{192, 88}:
		return c != 99
	case [2]byte{198, 51}:
		return c != 100
	case [2]byte{203, 0}:
		return c != 113
	default:
		return true
	}
}

func global6(first, second uint16) bool {
	switch {
	case first < 0x2000 || first > 0x3fff:
		return false
	case first == 0x2001:
		return second >= 0x200 && second != 0xdb8
	case first == 0x2002:
		return false
	case first == 0x3fff:
		return second >= 0x1000
	default:
		return true
	}
}

// Nothing passes but what both statements call public, or what is allowed; and
// what both call public does pass.
func FuzzGuard(f *testing.F) {
	for _, test := range special {
		block := netip.MustParsePrefix(test.block)
		for _, addr := range []netip.Addr{block.Addr(), last(block), block.Addr().Prev(), last(block).Next()} {
			if addr.IsValid() {
				f.Add(addr.AsSlice(), "")
				as16 := addr.As16()
				f.Add(as16[:], "eth0")
			}
		}
	}
	f.Add([]byte{192, 168, 77, 1}, "")
	f.Add([]byte{1, 1, 1, 1}, "")
	lenient := netip.MustParsePrefix("192.168.77.0/24")
	strict, loose := guard.New(nil), guard.New([]netip.Prefix{lenient})
	f.Fuzz(func(t *testing.T, ip []byte, zone string) {
		addr, ok := netip.AddrFromSlice(ip)
		if !ok {
			return
		}
		addr = addr.WithZone(zone)
		want := global(ip) && addr.Zone() == ""
		if got := strict.Check(addr) == nil; got != want {
			t.Errorf("%s passes: %t, want %t", addr, got, want)
		}
		if want && (!addr.Unmap().IsGlobalUnicast() || addr.Unmap().IsPrivate()) {
			t.Errorf("%s passes, netip calls it not global", addr)
		}
		want = want || lenient.Contains(addr.Unmap().WithZone(""))
		if got := loose.Check(addr) == nil; got != want {
			t.Errorf("%s passes with %s allowed: %t, want %t", addr, lenient, got, want)
		}
		if addr.IsValid() {
			dialed := netip.AddrPortFrom(addr, 443).String()
			if got := loose.Control(t.Context(), "tcp", dialed, nil) == nil; got != want {
				t.Errorf("dial %s passes: %t, want %t", dialed, got, want)
			}
		}
	})
}
