package groups

import (
	"math"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestBacklogs: four events of which one is finished and two are old, on a topic that
// is kept for two days.
func TestBacklogs(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cl := cluster.Client(t)
	config := policy.Config{DeliverPartitions: 1, Replication: -1, DeliverRetention: 48 * time.Hour, Embedded: true} // records keep their own time
	topic := schemas.DeliverTopic("backlogs")
	if err := topics.New(cl, config).Ensure(t.Context(), topic, schemas.DeliverTopic("a")); err != nil {
		t.Fatal(err)
	}
	for _, ago := range []time.Duration{46 * time.Hour, 45 * time.Hour, time.Hour, 0} {
		r := &kgo.Record{Topic: topic, Timestamp: time.Now().Add(-ago)}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	admin := kadm.NewClient(cl)
	commit := func(at int64) {
		t.Helper()
		var offsets kadm.Offsets
		offsets.AddOffset(topic, 0, at, -1)
		if err := admin.CommitAllOffsets(t.Context(), "g", offsets); err != nil {
			t.Fatal(err)
		}
	}
	look := func(want Backlog) {
		t.Helper()
		got, err := Backlogs(t.Context(), cl, "g", topic, schemas.DeliverTopic("a"), schemas.DeliverTopic("gone"))
		if err != nil || len(got) != 2 || got[1] != want {
			t.Errorf("backlogs %+v (%v), want the second to be %+v", got, err, want)
		}
	}
	commit(1)
	look(Backlog{Topic: topic, Kept: 48 * time.Hour, Held: 4, Waiting: 3, Aging: 1})
	if _, err := admin.DeleteRecords(t.Context(), kadm.Offsets{topic: {0: {Topic: topic, At: 3}}}); err != nil {
		t.Fatal(err)
	}
	look(Backlog{Topic: topic, Kept: 48 * time.Hour, Held: 1, Waiting: 1, Deleted: 2})
	commit(4)
	look(Backlog{Topic: topic, Kept: 48 * time.Hour, Held: 1})
}

// TestWhatATopicKeeps is for ever where no bound is known.
func TestWhatATopicKeeps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		configs map[string]string
		kept    time.Duration
		bytes   int64
	}{
		{nil, 0, 0},
		{map[string]string{policy.RetentionMs: "-1", policy.RetentionBytes: "-1"}, 0, 0},
		{map[string]string{policy.RetentionMs: "3600000", policy.RetentionBytes: "5"}, time.Hour, 5},
	} {
		if b := newBacklog("t", c.configs, nil); b.Kept != c.kept || b.Bytes != c.bytes {
			t.Errorf("%v: %+v", c.configs, b)
		}
	}
}

// TestOffsetsKept: brokers may be told to keep offsets for longer than a Duration is.
func TestOffsetsKept(t *testing.T) {
	t.Parallel()
	longest := time.Duration(math.MaxInt64).Truncate(time.Minute)
	for minutes, want := range map[string]time.Duration{"90": 90 * time.Minute, "2147483647": longest} {
		cluster := testkit.Fake(t, kfake.BrokerConfigs(map[string]string{"offsets.retention.minutes": minutes}))
		if got, err := OffsetsKept(t.Context(), cluster.Client(t)); err != nil || got != want {
			t.Errorf("%s minutes: %s (%v), want %s", minutes, got, err, want)
		}
	}
}
