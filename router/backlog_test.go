package router

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

// fetched is a poll of one partition: records from an offset on, taken so long ago,
// of a partition that ends there.
func fetched(num int32, ago time.Duration, from, to, end int64) kgo.Fetches {
	var records []*kgo.Record
	for offset := from; offset < to; offset++ {
		records = append(records, &kgo.Record{Offset: offset, Timestamp: time.Now().Add(-ago)})
	}
	partition := kgo.FetchPartition{Partition: num, LastStableOffset: end, Records: records}
	return kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: schemas.TopicRawEvents, Partitions: []kgo.FetchPartition{partition}}}}}
}

func (b *backlog) expect(t *testing.T, records int64, age time.Duration) {
	t.Helper()
	got, old := b.sum(time.Now())
	if got != records || math.Abs((old-age).Seconds()) > 0.001 {
		t.Errorf("%d records, the first %v old, want %d and %v", got, old, records, age)
	}
}

func TestBacklogOfTheRouter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(prometheus.NewRegistry())
		b.expect(t, 0, 0)
		b.assign([]int32{0, 1})
		b.expect(t, 0, 0)
		poll := fetched(0, time.Minute, 10, 15, 20)
		b.polled(poll)
		b.expect(t, 10, time.Minute)
		time.Sleep(time.Second) // an aborted transaction: the same again
		b.polled(poll)
		b.expect(t, 10, time.Minute+time.Second)
		b.routed(poll)
		b.expect(t, 5, time.Minute+time.Second) // no older than the last that was routed
		b.routed(fetched(0, 0, 15, 20, 20))
		b.expect(t, 0, 0)
		time.Sleep(time.Hour)
		b.expect(t, 0, 0)
		b.look(map[int32]kafka.Lag{0: {Committed: 20, End: 22}, 1: {Committed: 3, End: 3}, 7: {End: 99}})
		b.expect(t, 2, 0) // what came after an hour of rest is young
		time.Sleep(time.Minute)
		b.expect(t, 2, time.Minute)
		b.forget([]int32{0})
		b.expect(t, 0, 0)
		b.polled(poll) // of a partition that is somebody else's now
		b.expect(t, 0, 0)
	})
}

// TestALookDoesNotSetTheRouterBack: what it saw is older than what was routed since.
func TestALookDoesNotSetTheRouterBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog(prometheus.NewRegistry())
		b.assign([]int32{0})
		poll := fetched(0, 0, 0, 50, 50)
		b.polled(poll)
		b.routed(poll)
		b.look(map[int32]kafka.Lag{0: {Committed: 10, End: 40}})
		b.expect(t, 0, 0)
	})
}

// TestAnIdleRouterHasNoBacklog: the marker of a transaction on raw-events, such as
// a deletion request writes, is no event that waits.
func TestAnIdleRouterHasNoBacklog(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	client := b.Client(t, kgo.TransactionalID("a-deletion"), kgo.DefaultProduceTopic(schemas.TopicRawEvents))
	for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		rec := event("u", 1, schemas.Headers{Source: "web"})
		if err := client.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	r := b.router(t)
	start(t, r)
	testkit.Until(t, func() bool {
		lags, err := b.topics.Lag(t.Context(), Group, schemas.TopicRawEvents)
		if err != nil {
			return false // a group that is new has no coordinator yet
		}
		behind := int64(0)
		for _, lag := range lags[schemas.TopicRawEvents] {
			behind += lag.Offsets()
		}
		return behind == 0
	}, "the group's offsets to be behind the markers")
	counts(t, r, map[string]float64{"crm routed": 1})
	testkit.Until(t, func() bool {
		records, age := r.backlog.sum(time.Now())
		return records == 0 && age == 0
	}, "the router to see that nothing is left")
}

// TestEachPartitionIsCountedOnce: routers that join one after the other while nothing
// comes in, so that none ends a transaction between two revocations.
func TestEachPartitionIsCountedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)))
	var routers []*Router
	for _, id := range []string{"first", "second", "third"} {
		r, _ := b.fragile(t, id, "")
		routers = append(routers, r)
		start(t, r)
		testkit.Until(t, func() bool { return r.Ready() == nil && r.backlog.size() > 0 }, "a router to get partitions")
	}
	testkit.Until(t, func() bool {
		once := true
		for _, r := range routers {
			r.lookOnce(t.Context())
			once = once && r.backlog.size() == 1
		}
		return once
	}, "each router to count one of three partitions")
}

func (b *backlog) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.parts)
}

func TestSeriesOfTheBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		b := newBacklog(registry)
		b.assign([]int32{0, 1})
		b.polled(fetched(0, 2*time.Second, 0, 1, 3))
		b.polled(fetched(1, 3*time.Second, 0, 1, 4))
		for name, want := range map[string]float64{"anabranch_router_lag_records": 7, "anabranch_router_oldest_unrouted_seconds": 3} {
			if got := value(t, registry, name); got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
	})
}

// value returns a gauge without labels.
func value(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("%s is missing", name)
	return 0
}
