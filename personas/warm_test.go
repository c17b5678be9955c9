package personas

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestAPartitionThatComesBackIsWarm: of partitions that were another process's for a while,
// no more is read than that process has written.
func TestAPartitionThatComesBackIsWarm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const users, more = 300, 20
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Traits: []engine.Trait{counted()}})
		first := b.stage(t, b.virtually)
		start(t, first)
		virtual.Sleep(5 * time.Second)
		orders := func(n int) {
			for i := range n {
				b.send(t, b.track(fmt.Sprintf("u%d", i), "Order", time.Now()))
			}
			virtual.Sleep(10 * time.Second)
		}
		orders(users)
		guest := b.stage(t, b.virtually, func(_ *Config, set *Settings) { set.TransactionalID = "anabranch-personas-b" })
		leave := start(t, guest)
		virtual.Sleep(30 * time.Second)
		if n := len(guest.processor.owned()); n == 0 || n == partitions {
			t.Fatalf("the guest has %d partitions", n)
		}
		if n := testutil.ToFloat64(guest.processor.metrics.restored); n < users/partitions/2 {
			t.Errorf("the guest has read %g records", n)
		}
		orders(more)
		before := testutil.ToFloat64(first.processor.metrics.restored)
		leave()
		virtual.Sleep(time.Minute)
		if n := len(first.processor.owned()); n != partitions {
			t.Fatalf("the first one has %d partitions", n)
		}
		if n := testutil.ToFloat64(first.processor.metrics.restored) - before; n == 0 || n > 4*more {
			t.Errorf("%g records were read of partitions in which %d users have changed", n, more)
		}
		orders(users)
		b.heard(t, 2*users+more)
	})
}
