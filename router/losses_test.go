package router

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

// lost is how many offsets of raw-events a router has counted as lost.
func lost(t *testing.T, r *Router, cause string) float64 {
	t.Helper()
	gatherer, ok := r.set.Registerer.(prometheus.Gatherer)
	if !ok {
		t.Fatal("the registry of the router can't be read")
	}
	return testkit.Series(t, gatherer, "anabranch_router_lost_offsets_total", cause, schemas.TopicRawEvents)
}

// TestADataLossNoticeDoesNotEndTheSession: the client goes on by itself, and it is no
// fetch that is tried again.
func TestADataLossNoticeDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	r := newBench(t, testkit.Brokers(t)).told(t, startAuto)
	notice := kgo.FetchPartition{Err: &kgo.ErrDataLoss{Topic: schemas.TopicRawEvents, ConsumedTo: 9, ResetTo: 4}}
	fetches := kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: schemas.TopicRawEvents, Partitions: []kgo.FetchPartition{notice}}}}}
	if err := r.fetchError(t.Context(), fetches); err != nil {
		t.Errorf("the session ends: %v", err)
	}
	if n := lost(t, r.Router, "truncated"); n != 5 {
		t.Errorf("%v offsets are counted as truncated, want 5", n)
	}
	if log := r.logs.String(); strings.Contains(log, "retrying") || !strings.Contains(log, "level=ERROR") {
		t.Errorf("the log says:\n%s", log)
	}
}
