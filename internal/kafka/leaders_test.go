package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/testkit"
)

func TestLeaderless(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	c.CreateTopics(t, 2, "deliver.crm", "deliver.lake", "raw-events")
	restore := c.Leaderless(t, "deliver.crm", 1)
	topics := NewTopics(c.Client(t))
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
