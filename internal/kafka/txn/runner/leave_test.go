package runner

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestWhoLeavesAtAStop: the group keeps the place of a static router that
// returns. Partitions of all others are free at once, or they would stand still until
// a session has ended.
func TestWhoLeavesAtAStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		static  string
		returns bool
		members int
	}{
		"an ordinary member leaves":            {"", true, 0},
		"a static one that does not come back": {"router-0", false, 0},
		"a static one that returns stays":      {"router-0", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)))
			r, _ := b.fragile(t, "first", c.static, func(set *Settings) { set.Returns = c.returns })
			stop := start(t, r)
			testkit.Until(t, func() bool { return r.Ready() == nil }, "the router to join its group")
			stop()
			if got := len(b.Fake.GroupInfo(group).Members); got != c.members {
				t.Errorf("%d members are left, want %d", got, c.members)
			}
		})
	}
}
