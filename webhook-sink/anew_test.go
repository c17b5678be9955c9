package webhooksink

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
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
