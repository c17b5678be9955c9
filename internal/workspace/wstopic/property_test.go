package wstopic

import (
	"math/rand/v2"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestFollowersArrive applies one workspace after the other while followers
// start and stop: wherever one begins, it ends with the last workspace.
func TestFollowersArrive(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	r := rand.New(rand.NewPCG(5, 6))
	var lives []*workspace.Live
	var last *workspace.Snapshot
	for i := range 20 {
		if i%5 == 0 {
			_, live, _ := following(t, c.Options())
			lives = append(lives, live)
		}
		last = wstest.Random(r)
		apply(t, p, last)
	}
	for _, live := range lives {
		testkit.Until(t, func() bool { return len(workspace.Diff(live.Load(), last)) == 0 }, "a follower to have the last workspace")
	}
}
