package broker

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A response that reaches the limit of its request ends inside the records of an aborted
// transaction, and says of them that they were.
func TestAFullResponseTellsWhatWasAborted(t *testing.T) {
	b := open(t, t.TempDir())
	create(t, b, "events", 1)
	padding := strings.Repeat(".", 1<<10)
	var aborted, want []string
	for i := range 40 {
		aborted = append(aborted, fmt.Sprintf("aborted %d%s", i, padding))
		want = append(want, fmt.Sprintf("committed %d%s", i, padding))
	}
	end(t, transaction(t, b, "router-1", time.Minute, aborted...), kgo.TryAbort)
	end(t, transaction(t, b, "router-2", time.Minute, want...), kgo.TryCommit)

	reader := client(t, b, kgo.ConsumeTopics("events"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxBytes(5<<10), kgo.FetchMaxPartitionBytes(1<<20))
	var got []string
	for len(got) == 0 || got[len(got)-1] != want[len(want)-1] {
		fetches := reader.PollFetches(within(t))
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { got = append(got, string(r.Value)) })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("committed records (-want +got):\n%s", diff)
	}
}

func TestPartitionsShareAResponse(t *testing.T) {
	s := shares{most: make(map[bound]int)}
	for _, step := range []struct {
		name             string
		partitions       int
		total, partition int32
		want             int32
	}{
		{"there is room for all", 6, 2 << 20, 128 << 10, 128 << 10},
		{"another kind of client", 64, 4 << 20, 128 << 10, 64 << 10},
		{"the same, of what has moved", 2, 4 << 20, 128 << 10, 64 << 10},
		{"too many of them", 6000, 4 << 20, 128 << 10, leastShare},
		{"less than the least", 100, 1 << 20, 1 << 10, 1 << 10},
		{"nothing has moved", 0, 1 << 20, 1 << 10, 0},
	} {
		t.Run(step.name, func(t *testing.T) {
			fetch := kmsg.NewPtrFetchRequest()
			fetch.MaxBytes = step.total
			topic := kmsg.NewFetchRequestTopic()
			for range step.partitions {
				p := kmsg.NewFetchRequestTopicPartition()
				p.PartitionMaxBytes = step.partition
				topic.Partitions = append(topic.Partitions, p)
			}
			fetch.Topics = append(fetch.Topics, topic)
			s.divide(fetch)
			for _, p := range topic.Partitions {
				if p.PartitionMaxBytes != step.want {
					t.Fatalf("a partition may take %d bytes, want %d", p.PartitionMaxBytes, step.want)
				}
			}
			if fetch.MaxBytes != math.MaxInt32 {
				t.Errorf("the response has a limit of %d bytes, where it would stop short", fetch.MaxBytes)
			}
		})
	}
}
