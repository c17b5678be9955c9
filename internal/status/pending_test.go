package status

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/anabranch/anabranch/schemas"
)

// open commits an offset of the router in a transaction that stays open.
func (b *basin) open() {
	b.t.Helper()
	const id = "anabranch-router-a"
	// Since, offsets name topics by their ids.
	cl := b.cluster.Client(b.t, kgo.TransactionalID(id), kgo.MaxVersions(kversion.V3_5_0()))
	producer, epoch, err := cl.ProducerID(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = id, producer, epoch, routerGroup
	if _, err = add.RequestWith(b.t.Context(), cl); err != nil {
		b.t.Fatal(err)
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.ProducerID, commit.ProducerEpoch, commit.Group = id, producer, epoch, routerGroup
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic = schemas.TopicRawEvents
	topic.Partitions = append(topic.Partitions, kmsg.NewTxnOffsetCommitRequestTopicPartition())
	commit.Topics = append(commit.Topics, topic)
	resp, err := commit.RequestWith(b.t.Context(), cl)
	if err != nil {
		b.t.Fatal(err)
	}
	if err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode); err != nil {
		b.t.Fatal(err)
	}
}

// TestOffsetsInAnOpenTransaction: what waits for its end is told.
func TestOffsetsInAnOpenTransaction(t *testing.T) {
	t.Parallel()
	b := newBasin(t)
	b.write(&kgo.Record{Topic: schemas.TopicRawEvents})
	var before kadm.Offsets
	before.Add(kadm.Offset{Topic: schemas.TopicRawEvents, LeaderEpoch: -1})
	if err := kadm.NewClient(b.cl).CommitAllOffsets(t.Context(), routerGroup, before); err != nil {
		t.Fatal(err)
	}
	b.open()
	if got := b.report(ample()).UnroutedPending; !slices.Equal(got, []int32{0}) {
		t.Errorf("pending partitions %v, want the one whose offset is in a transaction", got)
	}
}
