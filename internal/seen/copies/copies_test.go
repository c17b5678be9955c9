package copies

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/seen"
	"github.com/anabranch/anabranch/internal/seen/digest"
	"github.com/anabranch/anabranch/schemas"
)

// held are copies of a partition that was restored up to offset 0.
func held(t *testing.T) *Copies {
	t.Helper()
	c := New(Settings{Name: "test", Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Window: time.Hour, Calls: schemas.TopicRawEvents, Digests: schemas.TopicSeen})
	var err error
	if c.store, err = seen.Open(seen.Options{Window: time.Hour, Logger: c.set.Logger, Failed: c.metrics.failed}); err != nil {
		t.Fatal(err)
	}
	if c.writer, err = digest.NewWriter([]kgo.Opt{kgo.SeedBrokers("127.0.0.1:1")}, schemas.TopicSeen, func(error) {}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.store.Close)
	c.hold(t)
	return c
}

func (c *Copies) hold(t *testing.T) {
	t.Helper()
	set := c.store.Set(0)
	set.Add(0, 0, nil)
	c.parts[0] = &part{set: set, batch: set.Begin(), calls: digest.Of("")}
}

// fetch is calls with the given messageIds, from an offset on, each in a fetch of its own.
func fetch(from int64, ids ...string) (all kgo.Fetches) {
	for i, id := range ids {
		rec := &kgo.Record{Topic: schemas.TopicRawEvents, Offset: from + int64(i)}
		kafka.SetHeaders(rec, &schemas.Headers{Source: "web", MessageID: id})
		all = append(all, kgo.Fetch{Topics: []kgo.FetchTopic{{
			Topic: schemas.TopicRawEvents, Partitions: []kgo.FetchPartition{{Records: []*kgo.Record{rec}}},
		}}})
	}
	return all
}

func (c *Copies) among(t *testing.T, fetches kgo.Fetches) string {
	t.Helper()
	if err := c.Look(fetches); err != nil {
		t.Fatal(err)
	}
	var found strings.Builder
	fetches.EachRecord(func(rec *kgo.Record) {
		found.WriteString(map[bool]string{true: "c", false: "-"}[c.Is(rec)])
	})
	return found.String()
}

func next(to int64) map[kafka.Partition]int64 {
	return map[kafka.Partition]int64{{Topic: schemas.TopicRawEvents}: to}
}

// TestTransactions: copies are those of what has committed, and of the transaction.
func TestTransactions(t *testing.T) {
	t.Parallel()
	c := held(t)
	check := func(fetches kgo.Fetches, want string) {
		t.Helper()
		if got := c.among(t, fetches); got != want {
			t.Errorf("copies %s, want %s", got, want)
		}
	}
	check(fetch(0, "a", "b", "a", "a"), "--cc")
	check(fetch(4, "b", "c"), "c-")
	c.Ended(false, next(6))
	check(fetch(0, "a", "b", "a", "a"), "--cc")
	c.Ended(true, next(4))
	check(fetch(4, "b", "c"), "c-")
	c.Ended(true, next(6))
	check(fetch(6, "c", "d"), "c-")

	// The partition is lost, and had again, before the transaction ends.
	c.Lost([]kafka.Partition{{Topic: schemas.TopicRawEvents}})
	c.hold(t)
	c.Ended(true, next(8))
	check(fetch(0, "d"), "-")
	c.Ended(true, next(1))
	c.Lost([]kafka.Partition{{Topic: schemas.TopicRawEvents}})
	check(fetch(1, "d"), "-")
}

// TestARecordThatComesAgain would be a copy of itself.
func TestARecordThatComesAgain(t *testing.T) {
	t.Parallel()
	c := held(t)
	c.among(t, fetch(0, "a", "b"))
	c.Ended(true, next(2))
	if err := c.Look(fetch(1, "b")); err == nil || !strings.Contains(err.Error(), "raw-events[0]@1") {
		t.Errorf("it was taken: %v", err)
	}
}
