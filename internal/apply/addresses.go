package apply

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"

	"github.com/anabranch/anabranch/internal/workspace"
)

// unreachable lists the endpoints at addresses that permit refuses, each with the
// setting that opens it. Names are not looked up: what they resolve to where the sink
// runs is for doctor to find out.
func unreachable(s *workspace.Snapshot, permit func(netip.AddrPort) error) []string {
	var found []string
	for _, d := range s.Destinations() {
		for _, e := range d.Endpoints {
			u, err := url.Parse(e.URL)
			if err != nil || !d.Enabled {
				continue
			}
			addr, literal := literal(u.Hostname())
			port, _ := strconv.ParseUint(u.Port(), 10, 16) // 0 is none of a peer
			if !literal || permit(netip.AddrPortFrom(addr, uint16(port))) == nil {
				continue
			}
			found = append(found, fmt.Sprintf("destination %s: %s is not at a public address: its events go to dead-letters unless WEBHOOK_SINK_ALLOW_NETWORKS=%s is set where the sink runs",
				d.ID, e.SafeURL(), netip.PrefixFrom(addr, addr.BitLen())))
		}
	}
	return found
}

// literal returns the address that a host is, if it is one.
func literal(host string) (netip.Addr, bool) {
	if host == "localhost" {
		host = "127.0.0.1"
	}
	addr, err := netip.ParseAddr(host)
	return addr.Unmap().WithZone(""), err == nil
}
