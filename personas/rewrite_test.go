package personas

import (
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestTheChangelogStaysBounded where nobody compacts it, across restarts in the middle of a
// round, and what is left of it has every user, those who have not changed for long too.
func TestTheChangelogStaysBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const users, rounds, least = 12, 300, 20
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Traits: []engine.Trait{counted()}})
		run := func() func() {
			r := b.stage(t, b.virtually, func(_ *Config, set *Settings) { set.Uncompacted = true })
			r.processor.leastLog = least
			return start(t, r)
		}
		b.begun(t, b.virtually)
		stop := run()
		virtual.Sleep(5 * time.Second)
		want := make(map[string][]string)
		n := 0
		order := func(i int) {
			user := fmt.Sprintf("u%d", i)
			b.send(t, b.track(user, "Order", time.Now()))
			want[user] = append(want[user], strconv.Itoa(len(want[user])+1))
			n++
		}
		for i := range users {
			order(i)
		}
		for round := range rounds {
			order(round % 3) // the others stand still
			virtual.Sleep(time.Second)
			if round%60 == 59 {
				stop()
				stop = run() // on an empty store
				virtual.Sleep(5 * time.Second)
			}
		}
		// Each transaction leaves the user, a user who is written again, how far it is, and its marker.
		if kept, most := b.kept(t), int64(partitions*least+4*logPerUser*users); kept > most {
			t.Errorf("%d records and markers are kept of %d users, want at most %d", kept, users, most)
		}
		for i := range users {
			order(i)
		}
		virtual.Sleep(5 * time.Second)
		if diff := cmp.Diff(want, values(b.heard(t, n), "orders")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		stop()
	})
}
