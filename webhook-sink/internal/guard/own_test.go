package guard

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/anabranch/anabranch/test/virtual"
)

func TestOwnAddressesAreAskedForNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		answers := []any{first, errors.New("no descriptors"), second}
		asked := 0
		own := remembering(func() ([]netip.Addr, error) {
			answer := answers[asked]
			asked++
			if err, failed := answer.(error); failed {
				return nil, err
			}
			return []netip.Addr{answer.(netip.Addr)}, nil
		})
		for i, want := range []netip.Addr{first, first, second} {
			for range 3 {
				if got := own(); !slices.Equal(got, []netip.Addr{want}) || asked != i+1 {
					t.Errorf("%v after %d questions, want %v after %d", got, asked, want, i+1)
				}
			}
			virtual.Sleep(ownFor)
		}
	})
}

func TestInterfacesHaveTheLoopback(t *testing.T) {
	if got := Own()(); !slices.ContainsFunc(got, netip.Addr.IsLoopback) {
		t.Errorf("%v has no loopback address", got)
	}
}
