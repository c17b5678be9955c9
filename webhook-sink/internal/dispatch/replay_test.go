package dispatch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// replay hands over what a replay sent, as give does.
func (f *floor) replay(id string, at int64, names ...string) {
	topic := schemas.ReplayTopic(id)
	var jobs []*Job
	for i, name := range names {
		jobs = append(jobs, NewJob(&kgo.Record{Topic: topic, Offset: at + int64(i), Key: []byte(name[:1]), Value: []byte(name)}))
	}
	f.Take(partition.Place{Topic: topic}, jobs)
}

func (f *floor) ownReplays(ids ...string) {
	for _, id := range ids {
		f.Assign(map[string][]int32{schemas.ReplayTopic(id): {0}}, nil)
	}
}

// TestAReplayWaitsBehindLiveEvents of its destination and of others, and lets each that
// comes go first.
func TestAReplayWaitsBehindLiveEvents(t *testing.T) {
	t.Parallel()
	f := newFloor(t, quota.Limits{Each: 2, Total: 4})
	f.own("crm", 0)
	f.ownReplays("crm")
	f.give("crm", 0, 0, "a1", "b1", "c1")
	f.replay("crm", 0, "x1", "y1")
	f.expect("a1", "b1")
	f.finish("a1")
	f.expect("b1", "c1")
	f.finish("b1")
	f.expect("c1", "x1")
	f.give("crm", 0, 3, "d1", "x2")
	f.finish("x1")
	f.expect("c1", "d1")
	f.finish("c1")
	f.expect("d1", "x2")
	f.finish("d1")
	f.expect("x2", "y1")
}

// TestAReplayedKeyGoesInOrder, beside live events of the same key, and what was withheld
// comes before the rest.
func TestAReplayedKeyGoesInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 8, Total: 32})
		f.own("crm", 0)
		f.ownReplays("crm")
		f.replay("crm", 0, "a1", "a2")
		f.give("crm", 0, 0, "a9")
		f.expect("a1", "a9")
		f.finish("a9")
		f.finishAs("a1", outcome.Outcome{Verdict: outcome.Withheld, Until: time.Now().Add(3 * time.Second)})
		f.expect()
		virtual.Sleep(4 * time.Second)
		f.expect("a1")
		f.finish("a1")
		f.expect("a2")
	})
}

// TestADeliveryWakesAReplay: a destination that is back need not be asked for.
func TestADeliveryWakesAReplay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 8, Total: 32})
		f.own("crm", 0)
		f.ownReplays("crm")
		f.replay("crm", 0, "a1")
		f.finishAs("a1", outcome.Outcome{Verdict: outcome.Withheld, Until: time.Now().Add(time.Hour)})
		f.give("crm", 0, 0, "b1")
		f.expect("b1")
		f.finish("b1")
		f.expect("a1")
	})
}
