package ranges

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/internal/lookup"
)

// Part is what one fetch found of a partition.
type Part struct {
	Records []*kgo.Record // committed ones, without the markers of transactions
	// Next is the offset behind all that was looked at. At where the fetch began it
	// says that nothing was there.
	Next int64
	// Stable is the offset up to which brokers showed committed records, excluded.
	Stable int64
	// Deleted says that the log begins behind where the fetch was to begin: at Next.
	Deleted bool
}

// partWait is how long a broker may wait for what is not there yet.
const partWait = 50 * time.Millisecond

// Fetch reads the part of a partition that begins at an offset: about bytes of it, and
// one batch of records at least. It is for a look at what has been read before; a
// consumer goes on from where it is.
func Fetch(ctx context.Context, cl *kgo.Client, topic string, partition int32, from int64, bytes int) (*Part, error) {
	part, err := fetch(ctx, cl, topic, partition, from, int32(min(bytes, 1<<30)))
	if err != nil {
		return nil, fmt.Errorf("fetch %s[%d] from %d: %w", topic, partition, from, err)
	}
	return part, nil
}

func fetch(ctx context.Context, cl *kgo.Client, topic string, partition int32, from int64, bytes int32) (*Part, error) {
	details, err := kadm.NewClient(cl).ListTopics(ctx, topic)
	if err != nil {
		return nil, err
	}
	found := details[topic]
	if err = errors.Join(found.Err, found.Partitions[partition].Err); err != nil {
		return nil, err
	}
	resp, err := cl.Broker(int(found.Partitions[partition].Leader)).RetriableRequest(ctx, partRequest(&found, partition, from, bytes))
	if err != nil {
		return nil, err
	}
	answer, err := onePartition(resp)
	if err != nil {
		return nil, err
	}
	if err = kerr.ErrorForCode(answer.ErrorCode); err != nil {
		return beyond(ctx, cl, topic, partition, from, err)
	}
	read, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: from, IsolationLevel: kgo.ReadCommitted(), Topic: topic, Partition: partition,
	}, answer, kgo.DefaultDecompressor(), nil)
	if read.Err != nil {
		return nil, read.Err
	}
	return &Part{Records: read.Records, Next: next, Stable: read.LastStableOffset}, nil
}

// partRequest names the topic and its id: which of them is sent depends on the
// broker's version.
func partRequest(topic *kadm.TopicDetail, partition int32, from int64, bytes int32) *kmsg.FetchRequest {
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = partition, from, bytes
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID, t.Partitions = topic.Topic, topic.ID, []kmsg.FetchRequestTopicPartition{p}
	req := kmsg.NewPtrFetchRequest()
	// The partition's limit alone bounds the answer: where the limit of a whole request
	// does, the embedded broker forgets to say which records were aborted.
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = int32(partWait.Milliseconds()), 1, math.MaxInt32
	req.IsolationLevel = 1
	req.Topics = []kmsg.FetchRequestTopic{t}
	return req
}

func onePartition(resp kmsg.Response) (*kmsg.FetchResponseTopicPartition, error) {
	fetched, ok := resp.(*kmsg.FetchResponse)
	if !ok {
		return nil, fmt.Errorf("the answer is a %T", resp)
	}
	if err := kerr.ErrorForCode(fetched.ErrorCode); err != nil {
		return nil, err
	}
	if len(fetched.Topics) != 1 || len(fetched.Topics[0].Partitions) != 1 {
		return nil, errors.New("the answer is not about one partition")
	}
	return &fetched.Topics[0].Partitions[0], nil
}

// beyond looks what an offset out of range means: deleted, when the log begins behind
// it.
func beyond(ctx context.Context, cl *kgo.Client, topic string, partition int32, from int64, cause error) (*Part, error) {
	if !errors.Is(cause, kerr.OffsetOutOfRange) {
		return nil, cause
	}
	starts, err := lookup.Listed(kadm.NewClient(cl).ListStartOffsets(ctx, topic))
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	if start, ok := starts.Lookup(topic, partition); ok && start.Offset > from {
		return &Part{Next: start.Offset, Deleted: true}, nil
	}
	return nil, cause
}
