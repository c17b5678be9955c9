package testkit

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Fill writes n empty records to a partition.
func (c *Cluster) Fill(tb testing.TB, topic string, partition int32, n int) {
	tb.Helper()
	cl := c.Client(tb, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for range n {
		if err := cl.ProduceSync(tb.Context(), &kgo.Record{Topic: topic, Partition: partition}).FirstErr(); err != nil {
			tb.Fatalf("produce: %v", err)
		}
	}
}

// Commit commits an offset of partition 0 of a topic for a group without members.
func (c *Cluster) Commit(tb testing.TB, group, topic string, offset int64) {
	tb.Helper()
	if err := c.admin(tb).CommitAllOffsets(tb.Context(), group, onPartition0(topic, offset)); err != nil {
		tb.Fatalf("commit: %v", err)
	}
}

// DeleteBefore deletes what stands before an offset of partition 0 of a topic, as
// retention does.
func (c *Cluster) DeleteBefore(tb testing.TB, topic string, offset int64) {
	tb.Helper()
	responses, err := c.admin(tb).DeleteRecords(tb.Context(), onPartition0(topic, offset))
	if err = errors.Join(err, responses.Error()); err != nil {
		tb.Fatalf("delete records: %v", err)
	}
}

func onPartition0(topic string, offset int64) kadm.Offsets {
	var offsets kadm.Offsets
	offsets.AddOffset(topic, 0, offset, -1)
	return offsets
}
