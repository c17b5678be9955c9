package kafka

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

// TestCreateWaitsForNoLeader: a partition without one is a reason to wait for what
// needs it, and not for all else.
func TestCreateWaitsForNoLeader(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t)
	topics := NewTopics(cluster.Client(t), TopicConfig{Partitions: 1, DeliverPartitions: 1, Replication: 1, RawRetention: time.Hour})
	good, bad := schemas.DeliverTopic("good"), schemas.DeliverTopic("bad")
	if err := topics.Ensure(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: bad, Err: kerr.LeaderNotAvailable, Count: -1})
	refused, err := topics.Create(t.Context(), good, bad, good)
	if err != nil || len(refused) != 0 {
		t.Fatalf("Create: %v, %v", refused, err)
	}
	if err := topics.Ensure(t.Context(), good); err != nil {
		t.Error(err)
	}
}

// TestCreateTellsWhatIsRefused, one by one, and creates the rest.
func TestCreateTellsWhatIsRefused(t *testing.T) {
	t.Parallel()
	for key, denied := range map[kmsg.Key]*kerr.Error{kmsg.CreateTopics: kerr.TopicAuthorizationFailed, kmsg.Metadata: kerr.TopicAuthorizationFailed} {
		t.Run(key.Name(), func(t *testing.T) {
			t.Parallel()
			cluster := testkit.Fake(t)
			topics := NewTopics(cluster.Client(t), TopicConfig{Partitions: 1, DeliverPartitions: 1, Replication: 1, RawRetention: time.Hour})
			good, bad := schemas.DeliverTopic("good"), schemas.DeliverTopic("bad")
			cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Topic: bad, Err: denied, Count: -1})
			refused, err := topics.Create(t.Context(), bad, good)
			if err != nil || len(refused) != 1 || !errors.Is(refused[bad], denied) {
				t.Fatalf("Create: %v, %v; want a refusal of %s alone", refused, err, bad)
			}
			if err := topics.Ensure(t.Context(), good); err != nil {
				t.Error(err)
			}
			if refused, err = topics.Create(t.Context(), bad); err != nil || len(refused) != 1 {
				t.Errorf("Create of %s alone: %v, %v", bad, refused, err)
			}
		})
	}
}

func TestCreateOfNothing(t *testing.T) {
	t.Parallel()
	topics := NewTopics(testkit.Fake(t).Client(t), topicConfig)
	if refused, err := topics.Create(t.Context()); err != nil || len(refused) != 0 {
		t.Errorf("Create: %v, %v", refused, err)
	}
}
