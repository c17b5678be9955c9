package subscription

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/internal/workspace"
)

// TestWhatThereIsToConsume: all that is needed, the delays of an earlier
// configuration, and nothing of the other stages. Topics of destinations that the
// workspace does not name wait.
func TestWhatThereIsToConsume(t *testing.T) {
	t.Parallel()
	s := among(
		[]string{"deliver.crm", "webhook-retry.5s"},
		[]string{"deliver.crm", "deliver.gone", "dead-letters", "raw-events", "webhook-retry.1m", "workspace", "delivery", "other"},
	)
	for what, c := range map[string]struct{ got, want []string }{
		"topics":    {s.Topics(), []string{"deliver.crm", "webhook-retry.1m", "webhook-retry.5s"}},
		"retries":   {s.Retries(), []string{"webhook-retry.1m", "webhook-retry.5s"}},
		"leftovers": {s.Leftovers(), []string{"deliver.gone"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// TestAddNamesWhatIsNew: the client is told of each topic once.
func TestAddNamesWhatIsNew(t *testing.T) {
	t.Parallel()
	s := among([]string{"deliver.crm"}, []string{"deliver.gone"})
	for _, step := range []struct{ add, want []string }{
		{[]string{"deliver.crm", "deliver.shop"}, []string{"deliver.shop"}},
		{[]string{"deliver.shop"}, nil},
		{s.Leftovers(), []string{"deliver.gone"}},
		{s.Leftovers(), nil},
	} {
		if diff := cmp.Diff(step.want, s.Add(step.add)); diff != "" {
			t.Errorf("add %v (-want +got):\n%s", step.add, diff)
		}
	}
}

// TestFindCreatesWhatIsMissing: a delay that repeats is one topic, and dead-letters
// is needed without being consumed.
func TestFindCreatesWhatIsMissing(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t)
	topics := kafka.NewTopics(cluster.Client(t), kafka.TopicConfig{Partitions: 1, DeliverPartitions: 1, Replication: 1, RawRetention: time.Hour, Embedded: true})
	ws := workspace.NewSnapshot(nil, []workspace.Destination{{ID: "crm"}, {ID: "shop"}})
	s, err := Find(t.Context(), topics, ws, []time.Duration{5 * time.Second, time.Minute, time.Minute})
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
