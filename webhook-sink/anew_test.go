package webhooksink

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestATopicThatIsMadeAnew: somebody deletes a destination's topic, with the sink
// running, and it comes back under another id.
func TestATopicThatIsMadeAnew(t *testing.T) {
	t.Parallel()
	p := newPlant(t, testkit.Fake(t, kfake.NumBrokers(1)), 1, destination("crm"))
	l := newLedger(time.Millisecond)
	r := p.start(l.attempt).ready()
	p.produce("crm", "k", "before")
	testkit.Until(t, func() bool { return distinct(l.all()) == 1 }, "the first event")

	topic := schemas.DeliverTopic("crm")
	if err := p.cluster.Fake.DeleteTopic(topic); err != nil {
		t.Fatal(err)
	}
	p.cluster.CreateTopics(t, 1, topic)
	p.client = p.cluster.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner())) // knows the new id
	p.produce("crm", "k", "after")
	testkit.Until(t, func() bool { return distinct(l.all()) == 2 }, "the event of the new topic")
	r.end()
	l.once(t, []string{"before", "after"})
	if n := r.metric("lost_offsets_total", "truncated", "deliver") + r.metric("lost_offsets_total", "deleted", "deliver"); n != 0 {
		t.Errorf("%v offsets are counted as lost: all of the old topic were delivered", n)
	}
}

// TestALateCommitOfATopicThatIsGone arrives when a topic of the same name is there
// again, with fewer records than the old one had, or more. All of them are delivered.
func TestALateCommitOfATopicThatIsGone(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"fewer": 5, "more": 35} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
				l := newLedger(time.Millisecond)
				r := p.start(l.attempt).ready()
				before, after := ids("before", 20), ids("after", n)
				p.produce("crm", "k", before...)
				testkit.Until(t, func() bool { return p.committed(0) == 20 }, "the commit of the old topic")
				r.end()
				topic := schemas.DeliverTopic("crm")
				late := p.cluster.Fake.GroupInfo(Group).Commits[topic][0]
				if err := p.cluster.Fake.DeleteTopic(topic); err != nil {
					t.Fatal(err)
				}
				p.cluster.CreateTopics(t, 1, topic)
				p.commit(topic, late)
				p.client = p.cluster.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
				p.produce("crm", "k", after...)

				r = p.start(l.attempt)
				testkit.Until(t, func() bool { return distinct(l.all()) == 20+n }, "the events of the new topic")
				r.end()
				l.once(t, append(before, after...))
			})
		})
	}
}

// commit commits for partition 0 of a topic, by its name, what the group held once.
func (p *plant) commit(topic string, c kfake.GroupCommit) {
	p.t.Helper()
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group = Group
	partition := kmsg.NewOffsetCommitRequestTopicPartition()
	partition.Offset, partition.LeaderEpoch, partition.Metadata = c.Offset, c.LeaderEpoch, &c.Metadata
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{partition}}}
	v := kversion.Stable()
	v.SetMaxKeyVersion(req.Key(), 9)
	resp, err := req.RequestWith(p.t.Context(), p.cluster.Client(p.t, kgo.MaxVersions(v)))
	if err != nil || resp.Topics[0].Partitions[0].ErrorCode != 0 {
		p.t.Fatalf("commit: %v, %v", resp, err)
	}
}

// TestATopicThatACommitFindsMissing was unknown to one broker, for a moment: what was
// finished of it and not committed is repeated, and what comes later is delivered.
func TestATopicThatACommitFindsMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"), destination("other"))
		p.cluster.Fake.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: schemas.DeliverTopic("crm"), Err: kerr.UnknownTopicOrPartition, Count: 1,
		})
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt).ready()
		p.produce("crm", "k", "before")
		p.produce("other", "k", "other")
		testkit.Until(t, func() bool { return len(l.all()) == 3 }, "the event to be repeated")
		p.produce("crm", "k", "after")
		testkit.Until(t, func() bool { return p.committed(0) == 2 }, "a commit of both")
		r.end()
		if all := l.all(); distinct(all) != 3 || len(all) != 4 {
			t.Errorf("delivered %v, want one of them twice", all)
		}
	})
}
