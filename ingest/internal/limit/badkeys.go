package limit

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// DefaultBadKeysPerMinute is so many that honest clients don't get there: one
// with a wrong key sends a batch every few seconds, so this is an office of
// fifty. Whoever tries keys out, or is in a loop, sends it in a second.
const DefaultBadKeysPerMinute = 600

// maxAddresses is how many addresses a BadKeys remembers, at about 250 bytes
// each. Beyond it those are forgotten that failed longest ago: somebody with so
// many addresses is not stopped by a count per address anyway.
const maxAddresses = 16384

// BadKeys bounds the requests with a wrong write key from each address. It is
// safe for concurrent use. A nil *BadKeys has no bound.
//
// IPv6 addresses count by their network of 64 bits, which is the least that a
// customer of a network provider has to choose from.
type BadKeys struct {
	perSecond rate.Limit
	burst     int

	// Two generations, of half the addresses each: when the young one is full it
	// becomes the old one, and the old one is forgotten. An address that fails
	// again moves to the young one.
	mu         sync.Mutex
	young, old map[netip.Addr]*rate.Limiter
}

// NewBadKeys returns a bound of perMinute failures, which may come at once, or
// nil, which is none, when that is not above zero.
func NewBadKeys(perMinute int) *BadKeys {
	if perMinute <= 0 {
		return nil
	}
	return &BadKeys{
		perSecond: rate.Limit(float64(perMinute) / time.Minute.Seconds()),
		burst:     perMinute,
		young:     make(map[netip.Addr]*rate.Limiter),
	}
}

// Failed notes that a request from addr had a wrong key. When there were too
// many it returns how long it lasts until another one is answered as usual. The
// zero Addr counts as one address.
func (k *BadKeys) Failed(addr netip.Addr, now time.Time) (retryAfter time.Duration, ok bool) {
	if k == nil {
		return 0, true
	}
	return take(k.bucket(Customer(addr)), 1, now)
}

// Look is Failed for a request that is not judged yet: it notes nothing, and tells
// whether a wrong key in it would be answered as usual.
func (k *BadKeys) Look(addr netip.Addr, now time.Time) (retryAfter time.Duration, ok bool) {
	if k == nil {
		return 0, true
	}
	b := k.known(Customer(addr))
	if b == nil || b.TokensAt(now) >= 1 {
		return 0, true
	}
	return until(b, 1, now), false
}

// Customer is the address that stands for all that one customer of a network
// provider may use.
func Customer(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if !addr.Is6() {
		return addr
	}
	network, err := addr.Prefix(64)
	if err != nil {
		return addr
	}
	return network.Addr()
}

// known returns the bucket of an address, nil when it has not failed of late.
func (k *BadKeys) known(addr netip.Addr) *rate.Limiter {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b := k.young[addr]; b != nil {
		return b
	}
	return k.old[addr]
}

func (k *BadKeys) bucket(addr netip.Addr) *rate.Limiter {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b := k.young[addr]; b != nil {
		return b
	}
	b := k.old[addr]
	if b == nil {
		b = rate.NewLimiter(k.perSecond, k.burst)
	}
	if len(k.young) == maxAddresses/2 {
		k.old, k.young = k.young, make(map[netip.Addr]*rate.Limiter)
	}
	k.young[addr] = b
	return b
}
