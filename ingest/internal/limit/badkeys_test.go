package limit

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

func TestBadKeysAgainstAModel(t *testing.T) {
	addrs := []netip.Addr{
		{},
		netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("203.0.113.8"),
		netip.MustParseAddr("2001:db8::7"), netip.MustParseAddr("2001:db8:0:1::7"),
	}
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 3))
		perSecond := 1 + random.IntN(10)
		keys, models, now := NewBadKeys(60*perSecond), map[netip.Addr]*bucket{}, 0
		for range 3000 {
			now += random.IntN(2)
			addr := addrs[random.IntN(len(addrs))]
			if models[addr] == nil {
				models[addr] = newBucket(perSecond, 60*perSecond)
			}
			look, looks := keys.Look(addr, at(now))
			want := models[addr].take(1, now)
			if looks != want || looks == (look > 0) {
				t.Fatalf("seed %d, %d/s: a look at %v at %d: got %v, %v, want %v", seed, perSecond, addr, now, look, looks, want)
			}
			if wait, got := keys.Failed(addr, at(now)); got != want || got == (wait > 0) {
				t.Fatalf("seed %d, %d/s: %v at %d: got %v, %v, want %v", seed, perSecond, addr, now, wait, got, want)
			}
		}
	}
}

func TestBadKeysTellWhenToComeAgain(t *testing.T) {
	keys, addr := NewBadKeys(6), netip.MustParseAddr("203.0.113.7")
	for i := range 6 {
		if _, ok := keys.Failed(addr, noon); !ok {
			t.Fatalf("failure %d of 6 a minute was refused", i+1)
		}
	}
	wait, ok := keys.Failed(addr, noon)
	if ok || wait != 10*time.Second {
		t.Errorf("the seventh: got %v, %v, want 10 s", wait, ok)
	}
	if wait, ok = keys.Look(addr, noon); ok || wait != 10*time.Second {
		t.Errorf("a look: got %v, %v, want 10 s", wait, ok)
	}
	if _, ok = keys.Failed(addr, noon.Add(10*time.Second)); !ok {
		t.Error("refused after the wait")
	}
}

func TestAddressesOfOneCustomer(t *testing.T) {
	for name, c := range map[string]struct {
		first, second string
		same          bool
	}{
		"IPv4":              {"203.0.113.7", "203.0.113.8", false},
		"IPv4 in IPv6 form": {"203.0.113.7", "::ffff:203.0.113.7", true},
		"mapped neighbours": {"::ffff:203.0.113.7", "::ffff:203.0.113.8", false},
		"one /64":           {"2001:db8::7", "2001:db8::ffff:1:2", true},
		"two /64":           {"2001:db8::7", "2001:db8:0:1::7", false},
		"a zone":            {"fe80::7%eth0", "fe80::8", true},
	} {
		keys := NewBadKeys(1)
		keys.Failed(netip.MustParseAddr(c.first), noon)
		if _, ok := keys.Failed(netip.MustParseAddr(c.second), noon); ok == c.same {
			t.Errorf("%s: %s and %s count as one: %v, want %v", name, c.first, c.second, !ok, c.same)
		}
	}
}

// TestBadKeysForgetTheOldest has one address fail again and again among more
// others than there is room for.
func TestBadKeysForgetTheOldest(t *testing.T) {
	keys := NewBadKeys(1)
	loud, quiet := netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("203.0.113.8")
	keys.Failed(loud, noon)
	keys.Failed(quiet, noon)
	other := netip.MustParseAddr("10.0.0.0")
	for i := range 2 * maxAddresses {
		other = other.Next()
		keys.Failed(other, noon)
		if i%1000 != 0 {
			continue
		}
		if _, ok := keys.Failed(loud, noon); ok {
			t.Fatalf("the address that goes on was forgotten after %d others", i)
		}
		if n := len(keys.young) + len(keys.old); n > maxAddresses {
			t.Fatalf("%d addresses are remembered", n)
		}
	}
	if _, ok := keys.Failed(quiet, noon); !ok {
		t.Error("the address that failed long ago was not forgotten")
	}
}

func TestWithoutANumberBadKeysHaveNoBound(t *testing.T) {
	for _, perMinute := range []int{0, -1} {
		keys := NewBadKeys(perMinute)
		for range 10_000 {
			if _, ok := keys.Failed(netip.Addr{}, noon); !ok {
				t.Fatalf("%d a minute: refused", perMinute)
			}
		}
	}
}

func BenchmarkBadKeysFailed(b *testing.B) {
	keys, addr := NewBadKeys(1), netip.MustParseAddr("203.0.113.7")
	b.ReportAllocs()
	for b.Loop() {
		keys.Failed(addr, noon)
	}
}
