package webhooksink

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestATopicWithoutALeader keeps a sink that starts from delivering nothing else.
func TestATopicWithoutALeader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("good"), destination("bad"))
		p.produce("good", "k", "m1")
		p.produce("bad", "k", "m2")
		fault := p.cluster.Fake.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Metadata}, Topic: schemas.DeliverTopic("bad"), Err: kerr.LeaderNotAvailable, Count: -1,
		})
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt).ready()
		testkit.Until(t, func() bool { return len(l.all()) == 1 }, "the event of the other destination")
		fault.Remove()
		testkit.Until(t, func() bool { return len(l.all()) == 2 }, "the event of the destination whose topic has a leader again")
		r.end()
		l.once(t, []string{"m1", "m2"})
	})
}

// TestATopicThatCannotBeCreated, at the start or while the sink runs, holds up no
// later change of the workspace, and is consumed once it can be had.
func TestATopicThatCannotBeCreated(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"at the start", "while it runs"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlant(t, testkit.Virtual(t), 1, destination("good"))
				fault := p.cluster.Fake.Fault(kfake.Fault{
					Keys: []kmsg.Key{kmsg.CreateTopics}, Topic: schemas.DeliverTopic("bad"), Err: kerr.TopicAuthorizationFailed, Count: -1,
				})
				l := newLedger(time.Millisecond)
				var r *running
				if when == "at the start" {
					p.live.Store(snapshot(destination("good"), destination("bad")))
					r = p.start(l.attempt).ready()
				} else {
					r = p.start(l.attempt).ready()
					p.live.Store(snapshot(destination("good"), destination("bad")))
					virtual.Sleep(time.Minute)
				}
				p.live.Store(snapshot(destination("good"), destination("bad"), destination("late")))
				p.ensure(schemas.DeliverTopic("late"))
				p.produce("good", "k", "m1")
				p.produce("late", "k", "m2")
				testkit.Until(t, func() bool { return len(l.all()) == 2 }, "the events of the other destinations")
				fault.Remove()
				p.ensure(schemas.DeliverTopic("bad"))
				p.produce("bad", "k", "m3")
				testkit.Until(t, func() bool { return len(l.all()) == 3 }, "the event of the destination whose topic can be had")
				r.end()
				l.once(t, []string{"m1", "m2", "m3"})
			})
		})
	}
}
