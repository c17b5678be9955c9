package wstopic

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
# HELP anabranch_workspace_destinations Destinations in the workspace in force, disabled ones included.
# TYPE anabranch_workspace_destinations gauge
anabranch_workspace_destinations 0
# HELP anabranch_workspace_locked_destinations Destinations whose secrets this process needs and can't decrypt, since SECRETS_KEY lacks their key: their events are held back.
# TYPE anabranch_workspace_locked_destinations gauge
anabranch_workspace_locked_destinations 0
# HELP anabranch_workspace_records_total Records of the workspace topic, by whether they could be read.
# TYPE anabranch_workspace_records_total counter
anabranch_workspace_records_total{result="read"} 0
anabranch_workspace_records_total{result="unreadable"} 0
# HELP anabranch_workspace_sources Sources in the workspace in force, disabled ones included.
# TYPE anabranch_workspace_sources gauge
anabranch_workspace_sources 0
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
