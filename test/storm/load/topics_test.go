package load

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestPartitionStreams: the stream of a partition writes to it and to no other, as an
// ordinary client places its users, and its users take turns.
func TestPartitionStreams(t *testing.T) {
	t.Parallel()
	const partitions, keys, each = 5, 3, 9
	c := testkit.Brokers(t)
	cl := c.Client(t)
	topics := topics.New(cl, policy.Config{Partitions: partitions, Replication: -1, RawRetention: time.Hour})
	if err := topics.Ensure(t.Context(), "raw-events"); err != nil {
		t.Fatal(err)
	}
	streams := PartitionStreams("run", "raw", "raw-events", partitions, keys)
	w := Writer{Client: cl, Books: books.New("run"), Source: "web"}
	if err := w.Fill(t.Context(), each, streams...); err != nil {
		t.Fatal(err)
	}
	users := make(map[string]int)
	reader := c.Client(t, kgo.ConsumeTopics("raw-events"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	for read := 0; read < partitions*each; {
		reader.PollFetches(t.Context()).EachRecord(func(r *kgo.Record) {
			read++
			h, err := kafka.HeadersOf(r)
			if err != nil {
				t.Fatal(err)
			}
			s, err := books.ParseStamp(h.MessageID)
			if err != nil || s.Producer != fmt.Sprintf("raw-p%d", r.Partition) {
				t.Errorf("partition %d holds an event of %s, %v", r.Partition, s.Producer, err)
			}
			users[fmt.Sprintf("%d %s", r.Partition, r.Key)]++
		})
	}
	if len(users) != partitions*keys {
		t.Errorf("%d users, want %d of each partition", len(users), keys)
	}
	for user, n := range users {
		if n != each/keys {
			t.Errorf("%d events of %s, want %d", n, user, each/keys)
		}
	}
}
