package broker

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// progress is how far the readers of topics have come: the offset up to which all groups that have to read a
// partition have committed it. Only topics with readers are in it.
type progress map[string]map[int32]reach

// reach is what is read of one partition. A group that has not committed any offset of it has read nothing, and one
// that has committed more than there is has done so for a topic that was deleted, and of this one nothing either.
type reach struct{ read, end int64 }

// floor returns the offset from which on nothing of a partition may be deleted, however old or large it is. What is
// written to a partition after the look at it, or to one that was made since, lies behind its floor.
func (p progress) floor(topic string, partition int32) int64 {
	partitions, read := p[topic]
	if !read {
		return math.MaxInt64
	}
	return partitions[partition].read
}

// progress looks up how far the readers of those of the topics have come that have any.
func (b *Broker) progress(ctx context.Context, client *kgo.Client, topics []kmsg.MetadataResponseTopic) (progress, error) {
	if b.readers == nil {
		return nil, nil
	}
	var read []kmsg.MetadataResponseTopic
	for _, topic := range topics {
		if len(b.readers(*topic.Topic)) > 0 {
			read = append(read, topic)
		}
	}
	return progressOf(ctx, client, read, b.readers)
}

// progressOf looks up how far the readers of topics have come, each of which has at least one. The ends come last: what
// is committed is never beyond them then, unless it is of another topic of the same name.
func progressOf(ctx context.Context, client *kgo.Client, topics []kmsg.MetadataResponseTopic, readers func(string) []string) (progress, error) {
	committed := make(map[string]progress) // by group; the ends are not known yet
	for _, topic := range topics {
		for _, group := range readers(*topic.Topic) {
			if committed[group] != nil {
				continue
			}
			offsets, err := committedBy(ctx, client, group)
			if err != nil {
				return nil, err
			}
			committed[group] = offsets
		}
	}
	ends, err := endsOf(ctx, client, topics)
	if err != nil {
		return nil, err
	}
	for topic, partitions := range ends {
		for num, r := range partitions {
			r.read = r.end
			for _, group := range readers(topic) {
				at, known := committed[group][topic][num]
				if !known || at.read > r.end {
					at.read = 0
				}
				r.read = min(r.read, at.read)
			}
			partitions[num] = r
		}
	}
	return ends, nil
}

// committedBy returns all offsets that a group has committed; none for a group that does not exist.
func committedBy(ctx context.Context, client *kgo.Client, group string) (progress, error) {
	request := kmsg.NewPtrOffsetFetchRequest()
	asked := kmsg.NewOffsetFetchRequestGroup()
	asked.Group = group
	request.Groups = append(request.Groups, asked) // no topics are all of them
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("read the offsets of group %s: %w", group, err)
	}
	offsets := make(progress)
	for _, answered := range response.Groups {
		if err := kerr.ErrorForCode(answered.ErrorCode); err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
			return nil, fmt.Errorf("read the offsets of group %s: %w", group, err)
		}
		for _, topic := range answered.Topics {
			partitions := make(map[int32]reach, len(topic.Partitions))
			for _, p := range topic.Partitions {
				if p.ErrorCode == 0 && p.Offset >= 0 {
					partitions[p.Partition] = reach{read: p.Offset}
				}
			}
			offsets[topic.Topic] = partitions
		}
	}
	return offsets, nil
}

// latest asks for the offset behind the last record.
const latest = -1

// endsOf returns where the partitions of topics end. One that has gone meanwhile ends at zero: nothing of it is read.
func endsOf(ctx context.Context, client *kgo.Client, topics []kmsg.MetadataResponseTopic) (progress, error) {
	request := kmsg.NewPtrListOffsetsRequest()
	ends := make(progress, len(topics))
	for _, topic := range topics {
		asked := kmsg.NewListOffsetsRequestTopic()
		asked.Topic = *topic.Topic
		for _, p := range topic.Partitions {
			partition := kmsg.NewListOffsetsRequestTopicPartition()
			partition.Partition, partition.Timestamp = p.Partition, latest
			asked.Partitions = append(asked.Partitions, partition)
		}
		request.Topics = append(request.Topics, asked)
		ends[*topic.Topic] = make(map[int32]reach, len(topic.Partitions))
	}
	if len(request.Topics) == 0 {
		return ends, nil
	}
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("list the ends of topics: %w", err)
	}
	for _, topic := range response.Topics {
		for _, p := range topic.Partitions {
			if p.ErrorCode == 0 {
				ends[topic.Topic][p.Partition] = reach{end: p.Offset}
			}
		}
	}
	return ends, nil
}
