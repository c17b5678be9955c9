package runner

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/test/testkit"
)

// lost is how many offsets of the source a runner has counted as lost.
func lost(t *testing.T, r *running, cause string) float64 {
	t.Helper()
	return r.series(t, "anabranch_copier_lost_offsets_total", cause, source)
}

// TestADataLossNoticeDoesNotEndTheSession: the client goes on by itself, and it is no
// fetch that is tried again.
func TestADataLossNoticeDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	r := newBench(t, testkit.Brokers(t)).told(t, "auto")
	notice := kgo.FetchPartition{Err: &kgo.ErrDataLoss{Topic: source, ConsumedTo: 9, ResetTo: 4}}
	fetches := kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: source, Partitions: []kgo.FetchPartition{notice}}}}}
	if err := r.fetchError(t.Context(), fetches); err != nil {
		t.Errorf("the session ends: %v", err)
	}
	if n := lost(t, r, "truncated"); n != 5 {
		t.Errorf("%v offsets are counted as truncated, want 5", n)
	}
	if log := r.logs.String(); strings.Contains(log, "retrying") || !strings.Contains(log, "level=ERROR") {
		t.Errorf("the log says:\n%s", log)
	}
}
