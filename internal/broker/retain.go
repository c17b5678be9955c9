package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
)

// retain trims the log at once and then on a timer, and watches the intake, until ctx ends. It asks as any client does,
// over the wire: methods of the cluster block for ever when it closes meanwhile, a request just fails.
func (b *Broker) retain(ctx context.Context) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.addr), kgo.ClientID("anabranch-retention"), kgo.DisableClientMetrics(),
		kgo.SASL(scram.Auth{User: User, Pass: b.password.Reveal()}.AsSha256Mechanism()))
	if err != nil {
		return fmt.Errorf("create the client for retention: %w", err)
	}
	defer client.Close()
	tick := time.NewTicker(b.every)
	defer tick.Stop()
	look := time.NewTicker(intakeEvery)
	defer look.Stop()
	// A pass that fails is no reason to stop a broker: the next one does its work too.
	for trim := true; ; {
		if trim {
			b.warn(ctx, "trimming the log failed, nothing is deleted until the next attempt", b.trim(ctx, client))
		}
		b.warn(ctx, "checking what is waiting in the log failed", b.intake.look(ctx, client, b.logDir))
		select {
		case <-tick.C:
			trim = true
		case <-look.C:
			trim = false
		case <-ctx.Done():
			return nil
		}
	}
}

// warn logs an error, but for one that the stop has caused.
func (b *Broker) warn(ctx context.Context, message string, err error) {
	if err != nil && ctx.Err() == nil {
		b.log.Warn(message, "error", err) //nolint:sloglint // the callers' messages are constant
	}
}

// trim deletes the segments of all topics that are over their limits.
func (b *Broker) trim(ctx context.Context, client *kgo.Client) error {
	all := kmsg.NewPtrMetadataRequest()
	listed, err := all.RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("list topics: %w", err)
	}
	names := make([]string, len(listed.Topics))
	for i := range names {
		names[i] = *listed.Topics[i].Topic
	}
	configs, err := topics.Settings(ctx, client, []string{"cleanup.policy", policy.RetentionMs, policy.RetentionBytes}, names...)
	if err != nil {
		return err
	}
	reached, err := b.progress(ctx, client, listed.Topics)
	if err != nil {
		return err
	}
	request := kmsg.NewPtrDeleteRecordsRequest()
	for _, topic := range listed.Topics {
		name := *topic.Topic
		if !deletes(configs[name]["cleanup.policy"]) {
			continue
		}
		if starts := b.starts(name, len(topic.Partitions), limitsOf(configs[name]), reached); len(starts) > 0 {
			request.Topics = append(request.Topics, kmsg.DeleteRecordsRequestTopic{Topic: name, Partitions: starts})
		}
	}
	if len(request.Topics) == 0 {
		return nil
	}
	return deleteRecords(ctx, client, request)
}

// limitsOf reads the limits from a topic's configuration. What can't be read limits nothing: kfake takes any text for
// a value, and nothing should be deleted because of a typing error.
func limitsOf(config map[string]string) limits {
	l := limits{age: -1, size: -1}
	if ms, err := strconv.ParseInt(config[policy.RetentionMs], 10, 64); err == nil && ms >= 0 && ms <= never.Milliseconds() {
		l.age = time.Duration(ms) * time.Millisecond
	}
	if size, err := strconv.ParseInt(config[policy.RetentionBytes], 10, 64); err == nil {
		l.size = size
	}
	return l
}

// starts returns the partitions of a topic whose log may begin later than it does, and where.
func (b *Broker) starts(topic string, partitions int, l limits, reached progress) []kmsg.DeleteRecordsRequestTopicPartition {
	var starts []kmsg.DeleteRecordsRequestTopicPartition
	for p := range partitions {
		segments, err := segmentsOf(partitionDir(b.logDir, topic, p))
		if err != nil || len(segments) == 0 {
			continue // nothing was ever written to it, or the topic has just gone
		}
		if start := l.start(segments, reached.floor(topic, int32(p)), time.Now()); start > segments[0].base {
			starts = append(starts, kmsg.DeleteRecordsRequestTopicPartition{Partition: int32(p), Offset: start})
		}
	}
	return starts
}

// deleteRecords sends the request and joins what it says of partitions that failed.
func deleteRecords(ctx context.Context, client *kgo.Client, request *kmsg.DeleteRecordsRequest) error {
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("delete records: %w", err)
	}
	var failed []error
	for _, topic := range response.Topics {
		for _, partition := range topic.Partitions {
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				failed = append(failed, fmt.Errorf("delete records of %s[%d]: %w", topic.Topic, partition.Partition, err))
			}
		}
	}
	return errors.Join(failed...)
}
