package router

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

// losing returns a router with a registry and a log of its own, whose raw-events has
// one partition and ten events.
func losing(t *testing.T, cluster *testkit.Cluster) (b *bench, r *Router, registry *prometheus.Registry, log *testkit.Logs) {
	t.Helper()
	cluster.CreateTopics(t, 1, schemas.TopicRawEvents)
	b = newBench(t, cluster)
	for i := range 10 {
		b.send(t, event("u", i, schemas.Headers{Source: "web"}))
	}
	base := b.router(t)
	set := base.set
	registry, log = prometheus.NewRegistry(), new(testkit.Logs)
	set.Registerer, set.Logger, set.Destinations = registry, slog.New(slog.NewTextHandler(log, nil)), nil
	r, err := New(base.cfg, set)
	if err != nil {
		t.Fatal(err)
	}
	return b, r, registry, log
}

// TestWhatRetentionDeletedIsTold: a router that was away for longer than raw-events
// keeps events says what it will never route, and routes the rest.
func TestWhatRetentionDeletedIsTold(t *testing.T) {
	t.Parallel()
	b, r, registry, log := losing(t, testkit.Brokers(t))
	b.Commit(t, Group, schemas.TopicRawEvents, 2)
	b.DeleteBefore(t, schemas.TopicRawEvents, 6)
	start(t, r)
	b.ReadAll(t, schemas.DeliverTopic("crm"), 4)
	if n := testkit.Series(t, registry, "anabranch_router_lost_offsets_total", "deleted", schemas.TopicRawEvents); n != 4 {
		t.Errorf("%v offsets are counted as deleted, want 4", n)
	}
	if !strings.Contains(log.String(), "from=2 to=6 offsets=4") || !strings.Contains(log.String(), "setting=RAW_EVENTS_RETENTION") || strings.Count(log.String(), "level=ERROR") != 1 {
		t.Errorf("the log does not tell of it once:\n%s", log)
	}
}

// TestADataLossNoticeDoesNotEndTheSession: the client goes on by itself, and it is no
// fetch that is tried again.
func TestADataLossNoticeDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	_, r, registry, log := losing(t, testkit.Brokers(t))
	notice := kgo.FetchPartition{Err: &kgo.ErrDataLoss{Topic: schemas.TopicRawEvents, ConsumedTo: 9, ResetTo: 4}}
	fetches := kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: schemas.TopicRawEvents, Partitions: []kgo.FetchPartition{notice}}}}}
	r.losses.Look(fetches)
	if err := r.fetchError(t.Context(), fetches); err != nil {
		t.Errorf("the session ends: %v", err)
	}
	if n := testkit.Series(t, registry, "anabranch_router_lost_offsets_total", "truncated", schemas.TopicRawEvents); n != 5 {
		t.Errorf("%v offsets are counted as truncated, want 5", n)
	}
	if strings.Contains(log.String(), "trying again") || !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("the log says:\n%s", log)
	}
}
