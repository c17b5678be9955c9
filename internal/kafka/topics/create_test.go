package topics

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestCreateWaitsForNoLeader: a partition without one is a reason to wait for what
// needs it, and not for all else.
func TestCreateWaitsForNoLeader(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t)
	topics := New(cluster.Client(t), policy.Config{Partitions: 1, DeliverPartitions: 1, Replication: 1, RawRetention: time.Hour})
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

// TestTopicsBesideOthers have as many partitions as those, which may be older than the
// settings.
func TestTopicsBesideOthers(t *testing.T) {
	t.Parallel()
	client := testkit.Fake(t).Client(t)
	before := policy.Config{Partitions: 3, DeliverPartitions: 1, Replication: 1, RawRetention: time.Hour}
	now := before
	now.Partitions, now.DeliverPartitions = 5, 2
	if err := New(client, before).Ensure(t.Context(), schemas.TopicRawEvents, schemas.DeliverTopic("crm")); err != nil {
		t.Fatal(err)
	}
	topics := New(client, now)
	beside := []string{schemas.TopicPersonasInternal, schemas.TopicPersonasChangelog}
	if err := topics.Ensure(t.Context(), append(beside, schemas.TopicDeadLetters, schemas.ReplayTopic("crm"), schemas.ReplayTopic("lake"))...); err != nil {
		t.Fatal(err)
	}
	for topic, want := range map[string]int{beside[0]: 3, beside[1]: 3, schemas.TopicDeadLetters: 5, schemas.ReplayTopic("crm"): 1, schemas.ReplayTopic("lake"): 2} {
		if n, err := topics.Partitions(t.Context(), topic); err != nil || n != want {
			t.Errorf("%s has %d partitions (%v), want %d", topic, n, err, want)
		}
	}
}

// TestCreateTellsWhatIsRefused, one by one, and creates the rest.
func TestCreateTellsWhatIsRefused(t *testing.T) {
	t.Parallel()
	for key, denied := range map[kmsg.Key]*kerr.Error{kmsg.CreateTopics: kerr.TopicAuthorizationFailed, kmsg.Metadata: kerr.TopicAuthorizationFailed} {
		t.Run(key.Name(), func(t *testing.T) {
			t.Parallel()
			cluster := testkit.Fake(t)
			topics := New(cluster.Client(t), policy.Config{Partitions: 1, DeliverPartitions: 1, Replication: 1, RawRetention: time.Hour})
			good, bad := schemas.DeliverTopic("good"), schemas.DeliverTopic("bad")
			cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Topic: bad, Err: denied, Count: -1})
			refused, err := topics.Create(t.Context(), bad, good)
			if err != nil || len(refused) != 1 || !errors.Is(refused[bad], denied) {
				t.Fatalf("Create: %v, %v; want a refusal of %s alone", refused, err, bad)
			}
			if err = topics.Ensure(t.Context(), good); err != nil {
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
	topics := New(testkit.Fake(t).Client(t), topicConfig)
	if refused, err := topics.Create(t.Context()); err != nil || len(refused) != 0 {
		t.Errorf("Create: %v, %v", refused, err)
	}
}

// TestEnsureNamesTheTopicsItMayNotSee, and tells them from those it may only not
// create.
func TestEnsureNamesTheTopicsItMayNotSee(t *testing.T) {
	t.Parallel()
	sees := func(name string) kfake.ACL {
		return kfake.ACL{Resource: kmsg.ACLResourceTypeTopic, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: kmsg.ACLOperationDescribe, Allow: true}
	}
	cluster := testkit.Fake(t, kfake.NumBrokers(1), kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "a"),
		kfake.User("PLAIN", "sink", "s", sees(schemas.TopicWorkspace)))
	config := kafka.Config{Brokers: cluster.Addrs, SASLMechanism: "PLAIN", Username: "sink", Password: "s"}
	opts, err := config.Options(new(testkit.Logs).Logger())
	if err != nil {
		t.Fatal(err)
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	topics := New(cl, topicConfig)
	for name, c := range map[string]struct{ ask, want, not string }{
		"not to be seen":    {schemas.TopicDeadLetters, "see topics dead-letters: ", schemas.TopicWorkspace},
		"not to be created": {schemas.TopicWorkspace, "the ACL Create", schemas.TopicDeadLetters},
	} {
		err := topics.Ensure(t.Context(), schemas.TopicWorkspace, c.ask)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.not) || !strings.Contains(err.Error(), "docs/brokers.md") {
			t.Errorf("%s: Ensure = %v, want %q and not %q", name, err, c.want, c.not)
		}
	}
}

// TestTopicsOfAnEmbeddedBroker that somebody takes for a Kafka are those that it can
// keep: compaction there is not safe.
func TestTopicsOfAnEmbeddedBroker(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t, kfake.ClusterID(kafka.EmbeddedCluster))
	topics := New(cluster.Client(t), policy.Config{Partitions: 1, DeliverPartitions: 1, Replication: 1, RawRetention: time.Hour})
	if embedded, err := topics.Recognise(t.Context()); err != nil || !embedded {
		t.Fatalf("Recognise: %t, %v", embedded, err)
	}
	if err := topics.Ensure(t.Context(), schemas.TopicWorkspace, schemas.TopicRawEvents); err != nil {
		t.Fatal(err)
	}
	found, err := Settings(t.Context(), topics.Client, []string{"cleanup.policy", policy.RetentionBytes}, schemas.TopicWorkspace, schemas.TopicRawEvents)
	if err != nil || found[schemas.TopicWorkspace]["cleanup.policy"] != "delete" || found[schemas.TopicRawEvents][policy.RetentionBytes] == "-1" {
		t.Errorf("settings %v, error %v", found, err)
	}
}
