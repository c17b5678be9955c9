package hanging

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/anabranch/anabranch/internal/kafka"
)

// Unfinished is a transaction whose end the brokers have not written into a group,
// and will not write: its coordinator treats it as complete.
type Unfinished struct {
	TransactionalID string
	Group           string
	// Offsets are those that it is known to have committed.
	Offsets map[kafka.Partition]int64
}

// Finish has the end written, by one more transaction of the same transactional id
// in which the group takes part: markers are the producer's, and end whatever it has
// left open in the same place. With offsets, that transaction commits them. Without,
// nobody knows what had been decided, and it is aborted: events that come again do
// less harm than events that never come.
//
// It fences a producer that lives under the id. The options are those that every
// client shares.
func (u *Unfinished) Finish(ctx context.Context, opts []kgo.Opt) error {
	cl, err := u.producer(opts)
	if err != nil {
		return fmt.Errorf("finish what %s left open: %w", u.TransactionalID, err)
	}
	defer kafka.Close(ctx, cl)
	id, epoch, err := cl.ProducerID(ctx)
	for _, step := range []func(context.Context, *kgo.Client, int64, int16) error{u.takePart, u.commit, u.end} {
		if err == nil {
			err = step(ctx, cl, id, epoch)
		}
	}
	if err != nil {
		return fmt.Errorf("finish what %s left open in group %s: %w", u.TransactionalID, u.Group, err)
	}
	return nil
}

// producer speaks the protocol in which a client says what takes part in its
// transaction, and names topics. In the later one its writes tell, and an abort has
// none.
func (u *Unfinished) producer(opts []kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(append([]kgo.Opt{}, opts...), kgo.TransactionalID(u.TransactionalID), kgo.MaxVersions(kversion.V3_5_0()))...)
}

func (u *Unfinished) takePart(ctx context.Context, cl *kgo.Client, id int64, epoch int16) error {
	req := kmsg.NewPtrAddOffsetsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = u.TransactionalID, id, epoch, u.Group
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}

func (u *Unfinished) commit(ctx context.Context, cl *kgo.Client, id int64, epoch int16) error {
	if len(u.Offsets) == 0 {
		return nil
	}
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = u.TransactionalID, id, epoch, u.Group
	byTopic := make(map[string][]kmsg.TxnOffsetCommitRequestTopicPartition)
	for of, offset := range u.Offsets {
		p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset = of.Num, offset
		byTopic[of.Topic] = append(byTopic[of.Topic], p)
	}
	for name, partitions := range byTopic {
		topic := kmsg.NewTxnOffsetCommitRequestTopic()
		topic.Topic, topic.Partitions = name, partitions
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	for i := range resp.Topics {
		for _, p := range resp.Topics[i].Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *Unfinished) end(ctx context.Context, cl *kgo.Client, id int64, epoch int16) error {
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = u.TransactionalID, id, epoch, len(u.Offsets) > 0
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}
