package resolve

import (
	"context"
	"net"
	"net/netip"
)

// lookupFunc asks for the addresses of a name.
type lookupFunc func(ctx context.Context, host string) ([]netip.Addr, error)

// lookup returns the look-up by Go's own resolver, over nameServer or, if that is
// nil, the network.
func lookup(nameServer dialFunc) lookupFunc {
	if nameServer == nil {
		nameServer = new(net.Dialer).DialContext
	}
	resolver := &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := nameServer(ctx, network, address)
			if err != nil {
				return nil, err
			}
			// The resolver reads up to its own deadline, whatever becomes of ctx.
			context.AfterFunc(ctx, func() { _ = conn.Close() })
			return conn, nil
		},
	}
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		addrs, err := resolver.LookupNetIP(ctx, "ip", host)
		for i := range addrs {
			addrs[i] = addrs[i].Unmap() // IPv4 comes in its mapped form
		}
		return addrs, err
	}
}
