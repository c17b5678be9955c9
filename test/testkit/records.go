package testkit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// CreateTopics creates topics and waits until each has a leader, so that the
// first produce to it finds it.
func (c *Cluster) CreateTopics(tb testing.TB, partitions int32, topics ...string) {
	tb.Helper()
	admin := c.admin(tb)
	created, err := admin.CreateTopics(tb.Context(), partitions, -1, nil, topics...)
	if err = errors.Join(err, created.Error()); err != nil {
		tb.Fatalf("create topics %v: %v", topics, err)
	}
	Until(tb, func() bool {
		details, err := admin.ListTopics(tb.Context(), topics...)
		return err == nil && details.Error() == nil && led(details)
	}, "the new topics to have leaders")
}

func led(details kadm.TopicDetails) bool {
	for _, topic := range details {
		for _, partition := range topic.Partitions {
			if partition.Leader < 0 {
				return false
			}
		}
	}
	return true
}

// ReadAll waits until a topic holds n committed records and returns them, sorted
// by partition and offset. It then reads on to the end of the topic and fails
// the test when there are more: a test that expects n means that the n+1st is a
// duplicate. Records of open and aborted transactions do not count. A topic that
// does not exist yet is waited for; with n = 0 it counts as empty.
func (c *Cluster) ReadAll(tb testing.TB, topic string, n int) []*kgo.Record {
	tb.Helper()
	if !c.awaitTopic(tb, topic, n > 0) {
		return nil
	}
	cl, err := kgo.NewClient(append(c.Options(),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// The last offset of a topic is often a transaction's marker; without
		// these there is no telling that the end has been reached.
		kgo.KeepControlRecords(),
		kgo.FetchMaxWait(100*time.Millisecond))...)
	if err != nil {
		tb.Fatalf("create Kafka client: %v", err)
	}
	defer cl.Close()

	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	r := &reader{client: cl, topic: topic, next: make(map[int32]int64)}
	if err := r.read(ctx, n); err != nil {
		tb.Fatalf("read %s: got %d records, want %d: %v", topic, len(r.records), n, err)
	}
	if len(r.records) != n {
		tb.Fatalf("read %s: it holds %d records, want %d", topic, len(r.records), n)
	}
	slices.SortFunc(r.records, func(a, b *kgo.Record) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
	return r.records
}

// awaitTopic reports whether the topic exists, waiting for it if asked to.
func (c *Cluster) awaitTopic(tb testing.TB, topic string, wait bool) bool {
	tb.Helper()
	admin := c.admin(tb)
	exists := func() bool {
		details, err := admin.ListTopics(tb.Context(), topic)
		if err != nil {
			tb.Fatalf("list topic %s: %v", topic, err)
		}
		return !errors.Is(details[topic].Err, kerr.UnknownTopicOrPartition)
	}
	if wait {
		Until(tb, exists, "topic "+topic+" to exist")
	}
	return exists()
}

// reader reads one topic from its start.
type reader struct {
	client  *kgo.Client
	topic   string
	records []*kgo.Record
	next    map[int32]int64 // by partition, the first offset not read yet
}

// read returns once there are n records and nothing is left that was there when
// the n-th had been read.
func (r *reader) read(ctx context.Context, n int) error {
	for len(r.records) < n {
		if err := r.poll(ctx); err != nil {
			return err
		}
	}
	admin := kadm.NewClient(r.client)
	starts, startErr := admin.ListStartOffsets(ctx, r.topic)
	ends, endErr := admin.ListCommittedOffsets(ctx, r.topic)
	if err := errors.Join(startErr, endErr, starts.Error(), ends.Error()); err != nil {
		return err
	}
	for !r.reached(starts[r.topic], ends[r.topic]) {
		if err := r.poll(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) poll(ctx context.Context) error {
	fetches := r.client.PollFetches(ctx)
	for _, e := range fetches.Errors() {
		return e.Err
	}
	fetches.EachRecord(func(record *kgo.Record) {
		r.next[record.Partition] = record.Offset + 1
		if !record.Attrs.IsControl() {
			r.records = append(r.records, record)
		}
	})
	return nil
}

func (r *reader) reached(starts, ends map[int32]kadm.ListedOffset) bool {
	for partition, end := range ends {
		if max(r.next[partition], starts[partition].Offset) < end.Offset {
			return false
		}
	}
	return true
}
