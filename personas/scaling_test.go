package personas

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestProcessesJoinAndLeave, up to more of them than there are partitions, while calls come:
// each call is told once and in order, and the state is that of the calls in the log.
func TestProcessesJoinAndLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const users = 20
		d := engine.Definitions{Audiences: []engine.Audience{audience("regulars", "Order", 3, 0)}, Traits: []engine.Trait{counted()}}
		b := newBench(t, testkit.Virtual(t), d)
		var there []*running
		var stops []func()
		want := make(map[string][]string)
		orders := func() {
			for i := range users {
				user := "u" + strconv.Itoa(i)
				b.send(t, b.track(user, "Order", time.Now()))
				want[user] = append(want[user], strconv.Itoa(len(want[user])+1))
			}
		}
		for _, n := range []int{1, 2, 4, 2, 1, 4, 1} {
			for len(there) < n {
				r := b.stage(t, b.virtually, func(_ *Config, set *Settings) { set.TransactionalID += strconv.Itoa(len(there)) })
				there, stops = append(there, r), append(stops, start(t, r))
			}
			for len(there) > n {
				stops[len(there)-1]()
				there, stops = there[:len(there)-1], stops[:len(there)-1]
			}
			if len(want) > 0 { // or it would be history
				orders() // while partitions move
			}
			virtual.Sleep(time.Minute)
			orders()
			owned := 0
			for _, r := range there {
				owned += len(r.processor.owned())
			}
			if owned != partitions {
				t.Errorf("%d processes have %d partitions", n, owned)
			}
		}
		virtual.Sleep(time.Minute)
		all := b.heard(t, users*(len(want["u0"])+1))
		if diff := cmp.Diff(want, values(all, "orders")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		b.agree(t, &d)
	})
}
