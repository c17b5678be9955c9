package webhooksink

import (
	"net/netip"

	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
)

// Permit returns the sink's guard of addresses: nil for an address that endpoints
// may live at under these settings, or as one of the peers (see [Settings.Peers]).
func (c Config) Permit(peers ...netip.AddrPort) func(netip.AddrPort) error {
	return guard.New(c.AllowNetworks, peers...).CheckPeer
}
