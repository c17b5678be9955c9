package deploy

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	webhooksink "github.com/anabranch/anabranch/webhook-sink"
)

// TestThePolicyClosesWhatTheSinkRefuses: the second lock on the door has the pattern of the first.
func TestThePolicyClosesWhatTheSinkRefuses(t *testing.T) {
	t.Parallel()
	ipv4, public6, ipv6 := webhooksink.ClosedNetworks()
	want := map[string][]string{"0.0.0.0/0": texts(ipv4), public6.String(): texts(ipv6)}
	got := make(map[string][]string)
	for _, way := range named(t, manifests(t), "NetworkPolicy", "webhook-sink").Spec.Egress {
		for _, to := range way.To {
			got[to.Block.CIDR] = to.Block.Except
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the blocks of the policy webhook-sink (-the guard's table +the file's):\n%s", diff)
	}
}

func texts(prefixes []netip.Prefix) []string {
	all := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		all[i] = prefix.String()
	}
	return all
}
