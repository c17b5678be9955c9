package wswatch

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestSeriesExistFromTheStart is what lets alerts tell nothing from no data.
func TestSeriesExistFromTheStart(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	newMetrics(reg)
	const want = `
# HELP anabranch_workspace_file_changes_total Changes of the workspace file: applied, refused for what the file says, or failed to be applied and retried.
# TYPE anabranch_workspace_file_changes_total counter
anabranch_workspace_file_changes_total{result="applied"} 0
anabranch_workspace_file_changes_total{result="failed"} 0
anabranch_workspace_file_changes_total{result="refused"} 0
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
