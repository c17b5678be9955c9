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
)

// retain trims the log at once and then on a timer, and watches the intake, until ctx ends. It asks as any client does,
// over the wire: methods of the cluster block for ever when it closes meanwhile, a request just fails.
func (b *Broker) retain(ctx context.Context) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.addr), kgo.ClientID("anabranch-retention"), kgo.DisableClientMetrics())
	if err != nil {
		return fmt.Errorf("make the client of retention: %w", err)
	}
	defer client.Close()
	tick := time.NewTicker(b.every)
	defer tick.Stop()
	look := time.NewTicker(intakeEvery)
	defer look.Stop()
	// A pass that fails is no reason to stop a broker: the next one does its work too.
	for trim := true; ; {
		if trim {
			b.warn(ctx, "trim of the log failed, nothing more is deleted until the next one", b.trim(ctx, client))
		}
		b.warn(ctx, "look at what waits in the log failed", b.intake.look(ctx, client, b.logDir))
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
	topics, err := all.RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("list topics: %w", err)
	}
	configs, err := describe(ctx, client, topics.Topics)
	if err != nil {
		return err
	}
	reached, err := b.progress(ctx, client, topics.Topics)
	if err != nil {
		return err
	}
	request := kmsg.NewPtrDeleteRecordsRequest()
	for _, topic := range topics.Topics {
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

// describe returns the effective configuration of each topic.
func describe(ctx context.Context, client *kgo.Client, topics []kmsg.MetadataResponseTopic) (map[string]map[string]string, error) {
	request := kmsg.NewPtrDescribeConfigsRequest()
	for _, topic := range topics {
		resource := kmsg.NewDescribeConfigsRequestResource()
		resource.ResourceType = kmsg.ConfigResourceTypeTopic
		resource.ResourceName = *topic.Topic
		resource.ConfigNames = []string{"cleanup.policy", "retention.ms", "retention.bytes"}
		request.Resources = append(request.Resources, resource)
	}
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("describe topics: %w", err)
	}
	configs := make(map[string]map[string]string, len(response.Resources))
	for _, resource := range response.Resources {
		values := make(map[string]string, len(resource.Configs))
		for _, config := range resource.Configs {
			if config.Value != nil {
				values[config.Name] = *config.Value
			}
		}
		configs[resource.ResourceName] = values
	}
	return configs, nil
}

// limitsOf reads the limits from a topic's configuration. What can't be read limits nothing: kfake takes any text for
// a value, and nothing should be deleted because of a typing error.
func limitsOf(config map[string]string) limits {
	l := limits{age: -1, size: -1}
	if ms, err := strconv.ParseInt(config["retention.ms"], 10, 64); err == nil && ms >= 0 && ms <= never.Milliseconds() {
		l.age = time.Duration(ms) * time.Millisecond
	}
	if size, err := strconv.ParseInt(config["retention.bytes"], 10, 64); err == nil {
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
