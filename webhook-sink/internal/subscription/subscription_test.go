package subscription

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestWhatThereIsToConsume: all that is needed, the delays of an earlier
// configuration, and nothing of the other stages. Topics of destinations that the
// workspace does not name wait.
func TestWhatThereIsToConsume(t *testing.T) {
	t.Parallel()
	s := among(
		[]string{"deliver.crm", "webhook-retry.5s"},
		[]string{"deliver.crm", "deliver.gone", "dead-letters", "raw-events", "replay.crm", "replay.gone", "replays", "webhook-retry.1m", "workspace", "delivery", "other"},
		nil,
	)
	for what, c := range map[string]struct{ got, want []string }{
		"topics":    {s.Topics(), []string{"deliver.crm", "replay.crm", "webhook-retry.1m", "webhook-retry.5s"}},
		"retries":   {s.Retries(), []string{"webhook-retry.1m", "webhook-retry.5s"}},
		"leftovers": {s.Leftovers(), []string{"deliver.gone"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// TestTopicsOfReplaysAreFound: those of a destination that is known at once, others when
// they are seen for the second time, and each once.
func TestTopicsOfReplaysAreFound(t *testing.T) {
	t.Parallel()
	s := among([]string{"deliver.crm", "deliver.shop"}, nil, nil)
	for _, step := range []struct{ existing, want []string }{
		{[]string{"deliver.crm", "replays"}, nil},
		{[]string{"replay.crm", "replay.gone"}, []string{"replay.crm"}},
		{nil, nil}, // brokers did not answer
		{[]string{"replay.crm", "replay.gone"}, nil},
		{[]string{"replay.crm", "replay.gone", "replay.shop"}, []string{"replay.gone", "replay.shop"}},
		{[]string{"replay.crm", "replay.gone", "replay.shop"}, nil},
	} {
		s.Replays(step.existing)
		if diff := cmp.Diff(step.want, s.have(nil)); diff != "" {
			t.Errorf("%v exist (-want +got):\n%s", step.existing, diff)
		}
	}
}

// TestObtainNamesWhatIsNew: the client is told of each topic once, and of one that is
// refused when it can be had.
func TestObtainNamesWhatIsNew(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t)
	topics := topics.New(cluster.Client(t), topicConfig)
	s := among([]string{"deliver.crm"}, []string{"deliver.gone"}, nil)
	refusal := cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Topic: "deliver.bad", Err: kerr.TopicAuthorizationFailed, Count: -1})
	for _, step := range []struct {
		want, added []string
		refused     int
	}{
		{[]string{"deliver.crm", "deliver.bad", "deliver.shop"}, []string{"deliver.shop"}, 1},
		{[]string{"deliver.shop"}, nil, 1},
		{s.Leftovers(), []string{"deliver.gone"}, 1},
		{s.Leftovers(), nil, 1},
	} {
		s.Want(step.want)
		added, refused, err := s.Obtain(t.Context(), topics)
		if diff := cmp.Diff(step.added, added); diff != "" || len(refused) != step.refused || err != nil || s.Complete() {
			t.Errorf("wanted %v: refused %v, %v, added (-want +got):\n%s", step.want, refused, err, diff)
		}
	}
	refusal.Remove()
	if added, _, err := s.Obtain(t.Context(), topics); !cmp.Equal(added, []string{"deliver.bad"}) || err != nil || !s.Complete() {
		t.Errorf("added %v, %v, once it is not refused any more", added, err)
	}
}

var topicConfig = policy.Config{Partitions: 1, DeliverPartitions: 1, Replication: 1, RawRetention: time.Hour, Embedded: true}

// TestATopicThatIsRefused is no leftover, and holds up no other.
func TestATopicThatIsRefused(t *testing.T) {
	t.Parallel()
	s := among([]string{"deliver.bad", "deliver.crm"}, []string{"deliver.bad", "deliver.crm"}, map[string]error{"deliver.bad": kerr.TopicAuthorizationFailed})
	if got := s.Topics(); !cmp.Equal(got, []string{"deliver.crm"}) || len(s.Leftovers()) != 0 || s.Complete() {
		t.Errorf("consumed %v, left over %v, complete %t", got, s.Leftovers(), s.Complete())
	}
}

// TestFindCreatesWhatIsMissing: a delay that repeats is one topic, and dead-letters
// is needed without being consumed.
func TestFindCreatesWhatIsMissing(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t)
	topics := topics.New(cluster.Client(t), topicConfig)
	ws := workspace.NewSnapshot(nil, []workspace.Destination{{ID: "crm"}, {ID: "shop"}})
	s, _, err := Find(t.Context(), topics, ws, []time.Duration{5 * time.Second, time.Minute, time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	consumed := []string{"deliver.crm", "deliver.shop", "webhook-retry.1m", "webhook-retry.5s"}
	if diff := cmp.Diff(consumed, s.Topics()); diff != "" {
		t.Errorf("consumed (-want +got):\n%s", diff)
	}
	testkit.Until(t, func() bool {
		existing, err := topics.List(t.Context(), "")
		return err == nil && cmp.Equal(existing, append([]string{"dead-letters"}, consumed...))
	}, "all topics to exist")
}
