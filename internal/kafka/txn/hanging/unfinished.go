package hanging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/waiting"
)

// concurrentPause is how often it is asked whether the transaction before has ended.
const concurrentPause = 50 * time.Millisecond

// Unfinished is a transaction whose end the brokers have not written everywhere, and
// will not write: its coordinator treats it as complete.
type Unfinished struct {
	TransactionalID string
	Group           string // empty: it committed no offsets
	// Partitions are what it may have written to, beside the group's offsets.
	Partitions []kafka.Partition
	// Offsets are those that it is known to have committed, and Commit is whether it has.
	Offsets map[kafka.Partition]int64
	Commit  bool
}

// Finish has the end written, by one more transaction of the same transactional id
// in which the group and the partitions take part: markers are the producer's, and end
// whatever it has left open in the same place. If the transaction is known to have been
// committed, this one is. Else it is aborted: events that come again do less harm than
// events that never come.
//
// It fences a producer that lives under the id. The options are those that every
// client shares.
func (u *Unfinished) Finish(ctx context.Context, opts []kgo.Opt) error {
	cl, err := u.producer(append(slices.Clip(opts), kgo.TransactionalID(u.TransactionalID)))
	if err != nil {
		return fmt.Errorf("finish what %s left open: %w", u.TransactionalID, err)
	}
	defer kafka.Close(ctx, cl)
	id, epoch, err := cl.ProducerID(ctx)
	if err != nil {
		return fmt.Errorf("finish what %s left open: %w", u.TransactionalID, err)
	}
	return u.finish(ctx, cl, id, epoch)
}

// FinishAs does the same for the producer that lives under the id, between two
// transactions of its own.
func (u *Unfinished) FinishAs(ctx context.Context, opts []kgo.Opt, id int64, epoch int16) error {
	cl, err := u.producer(opts)
	if err != nil {
		return fmt.Errorf("finish what %s left open: %w", u.TransactionalID, err)
	}
	defer kafka.Close(ctx, cl)
	return u.finish(ctx, cl, id, epoch)
}

func (u *Unfinished) finish(ctx context.Context, cl *kgo.Client, id int64, epoch int16) (err error) {
	for _, step := range []func(context.Context, *kgo.Client, int64, int16) error{u.takePart, u.add, u.commit, u.end} {
		if err == nil {
			err = step(ctx, cl, id, epoch)
		}
	}
	if err != nil {
		return fmt.Errorf("finish what %s left open, its group %q: %w", u.TransactionalID, u.Group, err)
	}
	return nil
}

// producer speaks the protocol in which a client says what takes part in its
// transaction, and names topics. In the later one its writes tell, and an abort has
// none.
func (u *Unfinished) producer(opts []kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(slices.Clip(opts), kgo.MaxVersions(kversion.V3_5_0()))...)
}

// takePart says that the group does.
func (u *Unfinished) takePart(ctx context.Context, cl *kgo.Client, id int64, epoch int16) error {
	if u.Group == "" {
		return nil
	}
	req := kmsg.NewPtrAddOffsetsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = u.TransactionalID, id, epoch, u.Group
	return begun(ctx, func() error {
		resp, err := req.RequestWith(ctx, cl)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.ErrorCode)
	})
}

// begun does what begins a transaction. The one before may still be on its way to an end
// that its coordinator knows of: until then this one can't begin.
func begun(ctx context.Context, begin func() error) error {
	for {
		err := begin()
		if !errors.Is(err, kerr.ConcurrentTransactions) || !waiting.Sleep(ctx, concurrentPause) {
			return err
		}
	}
}

// add says that the partitions do. What was deleted since has nothing left open, and what
// may not be written to was not.
func (u *Unfinished) add(ctx context.Context, cl *kgo.Client, id int64, epoch int16) error {
	for left := u.Partitions; len(left) > 0; {
		var refused []kafka.Partition
		err := begun(ctx, func() (err error) {
			refused, err = u.addAll(ctx, cl, id, epoch, left)
			return err
		})
		if err != nil || len(refused) == 0 {
			return err
		}
		left = slices.DeleteFunc(slices.Clone(left), func(p kafka.Partition) bool { return slices.Contains(refused, p) })
	}
	return nil
}

// addAll adds all partitions or, if some are refused, none, and returns those.
func (u *Unfinished) addAll(ctx context.Context, cl *kgo.Client, id int64, epoch int16, partitions []kafka.Partition) (refused []kafka.Partition, err error) {
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = u.TransactionalID, id, epoch
	byTopic := make(map[string][]int32)
	for _, p := range partitions {
		byTopic[p.Topic] = append(byTopic[p.Topic], p.Num)
	}
	for name, nums := range byTopic {
		topic := kmsg.NewAddPartitionsToTxnRequestTopic()
		topic.Topic, topic.Partitions = name, nums
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	for i := range resp.Topics {
		for _, p := range resp.Topics[i].Partitions {
			switch code := kerr.ErrorForCode(p.ErrorCode); {
			case errors.Is(code, kerr.UnknownTopicOrPartition), errors.Is(code, kerr.TopicAuthorizationFailed):
				refused = append(refused, kafka.Partition{Topic: resp.Topics[i].Topic, Num: p.Partition})
			case code != nil && !errors.Is(code, kerr.OperationNotAttempted):
				err = fmt.Errorf("%s[%d]: %w", resp.Topics[i].Topic, p.Partition, code)
			}
		}
	}
	return refused, err
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
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = u.TransactionalID, id, epoch, u.Commit
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}
