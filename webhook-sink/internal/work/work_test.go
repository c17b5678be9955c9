package work

import (
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
)

// TestARepeatAtSomeEndpointsSaysNothingOfTheOthers.
func TestARepeatAtSomeEndpointsSaysNothingOfTheOthers(t *testing.T) {
	dest := &workspace.Destination{Endpoints: make([]workspace.Endpoint, 3)}
	for _, test := range []struct {
		only []uint64
		want bool
	}{{nil, true}, {[]uint64{1}, false}, {[]uint64{1, 2}, false}, {[]uint64{1, 2, 3}, true}, {[]uint64{1, 2, 3, 4}, true}} {
		if got := concernsAll(dest, test.only); got != test.want {
			t.Errorf("an attempt for %d of 3 endpoints concerns all: %t, expected %t", len(test.only), got, test.want)
		}
	}
}
