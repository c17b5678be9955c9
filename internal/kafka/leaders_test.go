package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/testkit"
)

func TestLeaderless(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	c.CreateTopics(t, 2, "deliver.crm", "deliver.lake", "raw-events")
	restore := c.Leaderless(t, "deliver.crm", 1)
	topics := NewTopics(c.Client(t), TopicConfig{})
	got, err := topics.Leaderless(t.Context(), "deliver.")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]int32{"deliver.crm": {1}, "deliver.lake": nil}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	restore()
	testkit.Until(t, func() bool {
		got, err := topics.Leaderless(t.Context(), "")
		return err == nil && len(got) == 3 && len(got["deliver.crm"]) == 0
	}, "the partition to have a leader again")
}

// TestUnfinished: a transaction that is open holds nothing up by itself.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, "raw-events")
	writer := c.Client(t, kgo.TransactionalID("anabranch-test-writer"))
	if err := writer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := writer.ProduceSync(t.Context(), &kgo.Record{Topic: "raw-events"}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	topics := NewTopics(c.Client(t), TopicConfig{})
	if held, err := topics.Unfinished(t.Context(), "anabranch-test-writer"); err != nil || len(held) != 0 {
		t.Errorf("%v, %v, want nothing", held, err)
	}
	if _, err := topics.Unfinished(t.Context(), "never used"); err == nil {
		t.Error("an id that nobody used is described")
	}
}
