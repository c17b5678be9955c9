package backlog

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// fetched is a poll of one partition: records from an offset on, taken so long ago,
// of a partition that ends there.
func fetched(num int32, ago time.Duration, from, to, end int64) kgo.Fetches {
	var records []*kgo.Record
	for offset := from; offset < to; offset++ {
		records = append(records, &kgo.Record{Offset: offset, Timestamp: time.Now().Add(-ago)})
	}
	partition := kgo.FetchPartition{Partition: num, LastStableOffset: end, Records: records}
	return kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "raw-events", Partitions: []kgo.FetchPartition{partition}}}}}
}

func on(nums ...int32) []kafka.Partition {
	return kafka.Partitions(map[string][]int32{"raw-events": nums})
}

func (b *Backlog) expect(t *testing.T, records int64, age time.Duration) {
	t.Helper()
	got := b.total()
	if old := got.Age(time.Now()); got.Records != records || math.Abs((old-age).Seconds()) > 0.001 {
		t.Errorf("%d records, the first %v old, want %d and %v", got.Records, old, records, age)
	}
}

func TestBacklogOfTheRouter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New("readers", Descs{})
		b.expect(t, 0, 0)
		b.Assign(on(0, 1))
		b.expect(t, 0, 0)
		poll := fetched(0, time.Minute, 10, 15, 20)
		b.Polled(poll)
		b.expect(t, 10, time.Minute)
		virtual.Sleep(time.Second) // an aborted transaction: the same again
		b.Polled(poll)
		b.expect(t, 10, time.Minute+time.Second)
		b.Processed(poll)
		b.expect(t, 5, time.Minute+time.Second) // no older than the last that was routed
		b.Processed(fetched(0, 0, 15, 20, 20))
		b.expect(t, 0, 0)
		virtual.Sleep(time.Hour)
		b.expect(t, 0, 0)
		b.look(map[string]map[int32]groups.Lag{"raw-events": {0: {Committed: 20, End: 22}, 1: {Committed: 3, End: 3}, 7: {End: 99}}})
		b.expect(t, 2, 0) // what came after an hour of rest is young
		virtual.Sleep(time.Minute)
		b.expect(t, 2, time.Minute)
		b.Forget(on(0))
		b.expect(t, 0, 0)
		b.Polled(poll) // of a partition that is somebody else's now
		b.expect(t, 0, 0)
	})
}

// TestALookDoesNotSetTheRouterBack: what it saw is older than what was routed since.
func TestALookDoesNotSetTheRouterBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New("readers", Descs{})
		b.Assign(on(0))
		poll := fetched(0, 0, 0, 50, 50)
		b.Polled(poll)
		b.Processed(poll)
		b.look(map[string]map[int32]groups.Lag{"raw-events": {0: {Committed: 10, End: 40}}})
		b.expect(t, 0, 0)
	})
}

func TestSeriesOfTheBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desc := func(name string) *prometheus.Desc { return prometheus.NewDesc(name, "A gauge.", nil, nil) }
		descs := Descs{Lag: desc("lag"), Oldest: desc("oldest"), Stalled: desc("stalled")}
		registry := prometheus.NewRegistry()
		b := New("readers", descs)
		registry.MustRegister(b)
		b.Assign(on(0, 1))
		b.Polled(fetched(0, 2*time.Second, 0, 1, 3))
		b.Polled(fetched(1, 3*time.Second, 0, 1, 4))
		for name, want := range map[string]float64{"lag": 7, "oldest": 3} {
			if got := testkit.Series(t, registry, name); got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
	})
}
