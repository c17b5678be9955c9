package webhooksink

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// maxPoll bounds the records of one poll: the dispatcher hears of a full queue
// only between two polls.
const maxPoll = 1000

// consume hands what is fetched to the dispatcher, which never makes it wait,
// until ctx ends (nil) or fetching has become pointless.
func (s *session) consume(ctx context.Context) error {
	for ctx.Err() == nil {
		fetches := s.client.PollRecords(s.gate.Enter(ctx), maxPoll)
		s.losses.Polled(fetches)
		s.takeAll(fetches)
		s.gate.Leave()
		if err := s.fetchError(ctx, fetches); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) takeAll(fetches kgo.Fetches) {
	for _, fetch := range fetches { // a closure for EachTopic would cost as much as an event
		for _, topic := range fetch.Topics {
			for _, fetched := range topic.Partitions {
				s.take(topic, fetched)
			}
		}
	}
}

func (s *session) take(topic kgo.FetchTopic, fetched kgo.FetchPartition) {
	if len(fetched.Records) == 0 {
		return
	}
	_, retry := schemas.RetryDelayOf(topic.Topic)
	jobs := make([]*dispatch.Job, 0, len(fetched.Records))
	for _, r := range fetched.Records {
		if r.Attrs.IsControl() {
			continue
		}
		j := dispatch.NewJob(r)
		if retry {
			j.Read() // when it is due stands in its headers
		}
		jobs = append(jobs, j)
	}
	at, last := partition.Place{Topic: topic.Topic, Num: fetched.Partition}, fetched.Records[len(fetched.Records)-1]
	s.dispatcher.Identify(at, topic.TopicID)
	if len(jobs) > 0 {
		s.dispatcher.Take(at, jobs)
	}
	s.dispatcher.Read(at, last.Offset+1, last.LeaderEpoch, fetched.LastStableOffset)
}

// fetchError passes on what no retry mends. The client mends everything else by
// itself and goes on.
func (s *session) fetchError(ctx context.Context, fetches kgo.Fetches) error {
	var fatal error
	fetches.EachError(func(topic string, partition int32, err error) {
		switch {
		case ctx.Err() != nil, errors.Is(err, context.Canceled): // ours, or a rebalance at the gate
		case kafka.DataLoss(err): // told by s.losses
		case errors.Is(err, kgo.ErrClientClosed):
			fatal = fmt.Errorf("poll: %w", err)
		case errors.Is(err, kerr.FencedInstanceID):
			fatal = fmt.Errorf("group %s has another member under the instance id %q: %w", Group, s.set.InstanceID, err)
		case errors.Is(err, kerr.UnknownTopicID):
			// How far the old topic was finished must not be committed for the new one.
			s.dispatcher.ForgetTopic(topic)
			fatal = fmt.Errorf("fetch %s: %w", topic, err)
		default:
			s.log.Warn("fetch failed, retrying", "topic", topic, "partition", partition, "error", err)
		}
	})
	return fatal
}
