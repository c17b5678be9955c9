package webhooksink

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/group"
)

// TestWhoTakesOverAfterAStop: a sink that does not return hands its partitions over
// as it stops. Those of one that returns wait for it, until its session has ended and
// it is plain that it does not.
func TestWhoTakesOverAfterAStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		returns         bool
		soonest, latest time.Duration
	}{
		"one that does not return": {false, 0, 3 * time.Second},
		"one that returns":         {true, group.SessionTimeout - 2*group.HeartbeatInterval, group.SessionTimeout + 5*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const n, partitions = 40, 4
				p := newPlant(t, testkit.Virtual(t), partitions, destination("crm"))
				l := newLedger(time.Millisecond)
				returns := func(_ *Config, set *Settings) { set.Returns = c.returns }
				leaver := p.start(l.attempt, static("leaver"), returns).ready()
				rest := p.start(l.attempt, static("rest"), returns).ready()
				virtual.Sleep(30 * time.Second) // each has its partitions
				leaver.end()
				began := time.Now()
				p.write(spread(n, partitions)...)
				testkit.Until(t, func() bool { return len(l.all()) == n }, "all events to be delivered")
				if took := time.Since(began); took < c.soonest || took > c.latest {
					t.Errorf("all was delivered %s after the stop, want %s to %s", took, c.soonest, c.latest)
				}
				rest.end()
				l.once(t, ids("e", n))
			})
		})
	}
}
