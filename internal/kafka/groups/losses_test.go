package groups

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

func TestGap(t *testing.T) {
	tests := map[string]struct {
		next, first int64
		start, high int64 // as the fetch says
		want        Cause
		from, to    int64
	}{
		"one after the other":                  {10, 10, 0, 20, "", 0, 0},
		"aborted records are left out":         {10, 15, 0, 20, "", 0, 0},
		"what was read is deleted":             {10, 10, 10, 20, "", 0, 0},
		"what was read is deleted, and a gap":  {10, 15, 10, 20, "", 0, 0},
		"deleted":                              {10, 15, 15, 20, Deleted, 10, 15},
		"deleted, then aborted records":        {10, 15, 12, 20, Deleted, 10, 12},
		"a broker that does not say":           {10, 15, -1, 20, "", 0, 0},
		"a reader that went back":              {10, 5, 0, 20, "", 0, 0},
		"a reader that went back to the start": {10, 5, 5, 10, "", 0, 0},
		"the log lost its end":                 {10, 5, 0, 8, Truncated, 8, 10},
		"and nobody says where it ends":        {10, 5, 0, -1, "", 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, from, to := gap(test.next, test.first, &kgo.FetchPartition{LogStartOffset: test.start, HighWatermark: test.high})
			if c != test.want || from != test.from || to != test.to {
				t.Errorf("gap = %q %d to %d, want %q %d to %d", c, from, to, test.want, test.from, test.to)
			}
		})
	}
}

// reader reads raw-events as a group and looks for losses.
type reader struct {
	*Losses
	t        *testing.T
	cluster  *testkit.Cluster
	producer *kgo.Client
	registry *prometheus.Registry
	log      *testkit.Logs
}

const losingGroup = "losing"

// newReader returns one for whom raw-events has a partition and ten records.
func newReader(t *testing.T) *reader {
	t.Helper()
	cluster := testkit.Brokers(t)
	cluster.CreateTopics(t, 1, schemas.TopicRawEvents)
	r := &reader{t: t, cluster: cluster, producer: cluster.Client(t), registry: prometheus.NewRegistry(), log: new(testkit.Logs)}
	r.Losses = NewLosses("router", r.registry, r.log.Logger(), schemas.TopicRawEvents)
	if n, err := testutil.GatherAndCount(r.registry); err != nil || n != 2 {
		t.Errorf("%d series before the first loss (%v), want 2", n, err)
	}
	r.produce(10)
	return r
}

func (r *reader) produce(n int) {
	r.t.Helper()
	for i := range n {
		if err := r.producer.ProduceSync(r.t.Context(), &kgo.Record{Topic: schemas.TopicRawEvents, Value: fmt.Append(nil, i)}).FirstErr(); err != nil {
			r.t.Fatal(err)
		}
	}
}

// join returns a member of the group, which leaves when the test ends.
func (r *reader) join() *kgo.Client {
	begin := func(_ context.Context, all map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
		r.Begin(all)
		return all, nil
	}
	return r.cluster.Client(r.t, kgo.AdjustFetchOffsetsFn(begin), kgo.ConsumerGroup(losingGroup), kgo.ConsumeTopics(schemas.TopicRawEvents), kgo.DisableAutoCommit(),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(50*time.Millisecond))
}

// read reads up to the record with the last offset, and returns how many that are.
func (r *reader) read(client *kgo.Client, last int64) (n int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	for offset := int64(-1); offset < last; {
		fetches := client.PollRecords(ctx, 3)
		if ctx.Err() != nil {
			r.t.Fatalf("read up to %d, want %d", offset, last)
		}
		r.Polled(fetches)
		for _, record := range fetches.Records() {
			offset = record.Offset
			n++
		}
	}
	return n
}

func (r *reader) wants(deleted, truncated float64, lines int) {
	r.t.Helper()
	for c, want := range map[string]float64{"deleted": deleted, "truncated": truncated} {
		if got := testkit.Series(r.t, r.registry, "anabranch_router_lost_offsets_total", c, schemas.TopicRawEvents); got != want {
			r.t.Errorf("%v offsets are %s, want %v", got, c, want)
		}
	}
	if got := strings.Count(r.log.String(), "level=ERROR"); got != lines {
		r.t.Errorf("%d errors in the log, want %d:\n%s", got, lines, r.log)
	}
}

func TestWhatIsDeletedUnreadIsTold(t *testing.T) {
	t.Run("before the start", func(t *testing.T) {
		r := newReader(t)
		r.cluster.Commit(t, losingGroup, schemas.TopicRawEvents, 2)
		r.cluster.DeleteBefore(t, schemas.TopicRawEvents, 6)
		r.read(r.join(), 9)
		r.wants(4, 0, 1)
		for _, part := range []string{"topic=raw-events", "partition=0", "from=2 to=6", "offsets=4", "setting=RAW_EVENTS_RETENTION"} {
			if !strings.Contains(r.log.String(), part) {
				t.Errorf("the log does not say %s:\n%s", part, r.log)
			}
		}
	})
	t.Run("while it is paused", func(t *testing.T) {
		r := newReader(t)
		client := r.join()
		r.read(client, 9)
		client.PauseFetchTopics(schemas.TopicRawEvents)
		r.produce(10)
		r.cluster.DeleteBefore(t, schemas.TopicRawEvents, 15)
		client.ResumeFetchTopics(schemas.TopicRawEvents)
		n := r.read(client, 19) // with what a fetch that was under way may have brought
		r.wants(float64(10-n), 0, 1)
	})
	t.Run("before a member that takes over", func(t *testing.T) {
		r := newReader(t)
		client := r.join()
		r.read(client, 9)
		client.Close()
		r.cluster.Commit(t, losingGroup, schemas.TopicRawEvents, 3) // what is committed counts, not what a member that went had in hand
		r.cluster.DeleteBefore(t, schemas.TopicRawEvents, 5)
		r.read(r.join(), 9)
		r.wants(2, 0, 1)
	})
}

func TestWhatIsNoLossIsNotTold(t *testing.T) {
	t.Run("a new group on an old topic", func(t *testing.T) {
		r := newReader(t)
		r.cluster.DeleteBefore(t, schemas.TopicRawEvents, 6)
		r.read(r.join(), 9)
		r.wants(0, 0, 0)
	})
	t.Run("deleted after it was read", func(t *testing.T) {
		r := newReader(t)
		client := r.join()
		r.read(client, 9)
		r.cluster.DeleteBefore(t, schemas.TopicRawEvents, 10)
		r.produce(1)
		r.read(client, 10)
		r.wants(0, 0, 0)
	})
	t.Run("read again after a rewind", func(t *testing.T) {
		r := newReader(t)
		client := r.join()
		r.read(client, 9)
		client.SetOffsets(map[string]map[int32]kgo.EpochOffset{schemas.TopicRawEvents: {0: {Epoch: -1, Offset: 2}}})
		r.read(client, 9)
		r.wants(0, 0, 0)
	})
}

// A log that lost its tail in a power failure, and offsets that did not.
func TestALogThatLostItsEndIsTold(t *testing.T) {
	r := newReader(t)
	r.cluster.Commit(t, losingGroup, schemas.TopicRawEvents, 13)
	r.read(r.join(), 9)
	r.wants(0, 3, 1)
}

// What the client notices by leader epochs comes as an error of a partition, with the
// records behind it or before them.
func TestADataLossNoticeIsToldOnce(t *testing.T) {
	registry, log := prometheus.NewRegistry(), new(testkit.Logs)
	l := NewLosses("webhook_sink", registry, log.Logger(), schemas.FamilyDeliver, schemas.FamilyRetry)
	l.Begin(map[string]map[int32]kgo.Offset{"deliver.crm": {0: kgo.NewOffset().At(528)}})
	notice := &kgo.ErrDataLoss{Topic: "deliver.crm", ConsumedTo: 528, ResetTo: 85}
	if !kafka.DataLoss(fmt.Errorf("fetch: %w", notice)) || kafka.DataLoss(errors.New("other")) {
		t.Error("a notice is not known as one")
	}
	records := []*kgo.Record{{Offset: 85}}
	fetches := kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "deliver.crm", Partitions: []kgo.FetchPartition{
		{HighWatermark: 86, Records: records}, {Err: notice},
	}}}}}
	l.Polled(fetches)
	if got := testkit.Series(t, registry, "anabranch_webhook_sink_lost_offsets_total", "truncated", "deliver"); got != 443 || strings.Count(log.String(), "level=ERROR") != 1 {
		t.Errorf("counted %v offsets, want 443 and one error:\n%s", got, log)
	}
	// A loss of an unknown number is one at least.
	l.Polled(kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "webhook-retry.5s", Partitions: []kgo.FetchPartition{
		{Err: &kgo.ErrDataLoss{Topic: "webhook-retry.5s", ConsumedTo: 9, ResetTo: 9}},
	}}}}})
	if got := testkit.Series(t, registry, "anabranch_webhook_sink_lost_offsets_total", "truncated", "webhook-retry"); got != 1 {
		t.Errorf("counted %v offsets, want 1", got)
	}
}

// A loss is told when it is found, and not with every poll from then on.
func TestADeletionIsToldOnce(t *testing.T) {
	registry, log := prometheus.NewRegistry(), new(testkit.Logs)
	l := NewLosses("router", registry, log.Logger(), schemas.TopicRawEvents)
	l.Begin(map[string]map[int32]kgo.Offset{schemas.TopicRawEvents: {0: kgo.NewOffset().At(2)}})
	poll := func(start int64, offsets ...int64) kgo.Fetches {
		p := kgo.FetchPartition{LogStartOffset: start, HighWatermark: 20}
		for _, offset := range offsets {
			p.Records = append(p.Records, &kgo.Record{Offset: offset})
		}
		return kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: schemas.TopicRawEvents, Partitions: []kgo.FetchPartition{p}}}}}
	}
	l.Polled(poll(4, 4, 5))
	l.Polled(poll(4, 6, 7))
	l.Polled(poll(6, 8)) // what was read may be deleted
	if got := testkit.Series(t, registry, "anabranch_router_lost_offsets_total", "deleted", schemas.TopicRawEvents); got != 2 || strings.Count(log.String(), "level=ERROR") != 1 {
		t.Errorf("counted %v offsets, want 2 and one error:\n%s", got, log)
	}
}
