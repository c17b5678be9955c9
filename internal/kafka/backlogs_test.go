package kafka

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

// TestBacklogs: four events of which one is finished and two are old, on a topic that
// is kept for two days.
func TestBacklogs(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cl := cluster.Client(t)
	config := topicConfig
	config.Partitions, config.RawBytes, config.Embedded = 1, 5<<20, true // records keep their own time
	topics := NewTopics(cl, config)
	if err := topics.Ensure(t.Context(), schemas.TopicRawEvents, schemas.DeliverTopic("crm")); err != nil {
		t.Fatal(err)
	}
	for _, ago := range []time.Duration{46 * time.Hour, 45 * time.Hour, time.Hour, 0} {
		r := &kgo.Record{Topic: schemas.TopicRawEvents, Timestamp: time.Now().Add(-ago)}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	admin := kadm.NewClient(cl)
	commit := func(at int64) {
		t.Helper()
		var offsets kadm.Offsets
		offsets.AddOffset(schemas.TopicRawEvents, 0, at, -1)
		if err := admin.CommitAllOffsets(t.Context(), "g", offsets); err != nil {
			t.Fatal(err)
		}
	}
	look := func(want Backlog) {
		t.Helper()
		got, err := topics.Backlogs(t.Context(), "g", schemas.TopicRawEvents, schemas.DeliverTopic("crm"), schemas.DeliverTopic("gone"))
		if err != nil || len(got) != 2 || got[1] != want {
			t.Errorf("backlogs %+v (%v), want the second to be %+v", got, err, want)
		}
	}
	commit(1)
	look(Backlog{Topic: schemas.TopicRawEvents, Kept: 48 * time.Hour, Bytes: 5 << 20, Held: 4, Waiting: 3, Aging: 1})
	if _, err := admin.DeleteRecords(t.Context(), kadm.Offsets{schemas.TopicRawEvents: {0: {Topic: schemas.TopicRawEvents, At: 3}}}); err != nil {
		t.Fatal(err)
	}
	look(Backlog{Topic: schemas.TopicRawEvents, Kept: 48 * time.Hour, Bytes: 5 << 20, Held: 1, Waiting: 1, Deleted: 2})
	commit(4)
	look(Backlog{Topic: schemas.TopicRawEvents, Kept: 48 * time.Hour, Bytes: 5 << 20, Held: 1})
}

func TestOffsetsKept(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t, kfake.BrokerConfigs(map[string]string{"offsets.retention.minutes": "90"}))
	if got, err := NewTopics(cluster.Client(t), topicConfig).OffsetsKept(t.Context()); err != nil || got != 90*time.Minute {
		t.Errorf("%s (%v)", got, err)
	}
}
