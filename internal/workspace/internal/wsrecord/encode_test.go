package wsrecord

import (
	"strconv"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
)

// TestManyEntriesAreEncoded at a cost in proportion: ten thousand destinations are put in force
// while a transaction is open.
func TestManyEntriesAreEncoded(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts those of all tests
	allocs := func(n int) float64 {
		doc := workspace.Document{}
		for i := range n {
			doc.Destinations = append(doc.Destinations, workspace.Destination{ID: "d" + strconv.Itoa(i), Type: workspace.TypeWebhooks})
		}
		next := doc.Snapshot()
		changes := workspace.Diff(workspace.NewSnapshot(nil, nil), next)
		return testing.AllocsPerRun(1, func() {
			if records, err := NewTable().Encode(changes, next); err != nil || len(records) != n {
				t.Fatalf("%d records of %d, %v", len(records), n, err)
			}
		})
	}
	if few, many := allocs(500), allocs(2000); many > 6*few {
		t.Errorf("%.0f allocations for 500 destinations, %.0f for 2000", few, many)
	}
}
