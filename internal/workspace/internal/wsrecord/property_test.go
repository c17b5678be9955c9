package wsrecord

import (
	"math/rand/v2"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

// TestDifferencesLead writes one difference after the other: each leads from
// wherever the last one led to exactly the next workspace.
func TestDifferencesLead(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	topic := NewTable()
	for range 2000 {
		before, next := topic.Snapshot(), wstest.Random(r)
		changes := workspace.Diff(before, next)
		if back := workspace.Diff(next, before); len(back) != len(changes) {
			t.Fatalf("there %v, back %v", changes, back)
		}
		records, err := topic.Encode(changes, next)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			if err := topic.Apply(record); err != nil {
				t.Fatal(err)
			}
		}
		if left := workspace.Diff(topic.Snapshot(), next); len(left) > 0 {
			t.Fatalf("left after %v: %v", changes, left)
		}
		wstest.Equal(t, topic.Snapshot(), next)
	}
}
