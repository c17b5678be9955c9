package guard

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// ownFor is how long the machine's addresses are taken to stay. They come and go with
// interfaces, and to list them costs as much as a connection.
const ownFor = 10 * time.Second

// Own returns a function that lists the addresses of the machine's interfaces. It may
// be called by many goroutines.
func Own() func() []netip.Addr { return remembering(interfaces) }

// remembering asks list again when its answer is older than ownFor. When it fails, the
// answer before it goes on to hold.
func remembering(list func() ([]netip.Addr, error)) func() []netip.Addr {
	var (
		mu    sync.Mutex
		known []netip.Addr
		asked time.Time
	)
	return func() []netip.Addr {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); asked.IsZero() || now.Sub(asked) >= ownFor {
			asked = now
			if addrs, err := list(); err == nil {
				known = addrs
			}
		}
		return known
	}
}

func interfaces() ([]netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	addrs := make([]netip.Addr, 0, len(all))
	for _, one := range all {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil {
			addrs = append(addrs, prefix.Addr().Unmap().WithZone(""))
		}
	}
	return addrs, nil
}
