package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Backlog is what a group has not finished of a topic, next to what the topic keeps.
// Numbers are of offsets, those of markers included.
type Backlog struct {
	Topic   string
	Kept    time.Duration // how long; 0: for ever, or not known
	Bytes   int64         // how many of each partition; 0: any number, or not known
	Held    int64         // what the topic holds
	Waiting int64         // of these, what is not finished
	Aging   int64         // of these, what is older than three quarters of Kept
	Deleted int64         // what retention has deleted before it was finished
}

// Backlogs returns the backlog of a group on each of the topics that exist, by name.
// Where our principal may not see the settings of topics, what they keep is not known.
func (t *Topics) Backlogs(ctx context.Context, group string, topics ...string) ([]Backlog, error) {
	progress, err := t.Progress(ctx, group, topics...)
	if err != nil || len(progress) == 0 {
		return nil, err
	}
	states := make(map[string]TopicState, len(progress))
	for topic := range progress {
		states[topic] = TopicState{}
	}
	if err = t.describe(ctx, states); err != nil && !errors.Is(err, ErrUndescribed) {
		return nil, err
	}
	all := make([]Backlog, 0, len(progress))
	for _, topic := range slices.Sorted(maps.Keys(progress)) {
		all = append(all, newBacklog(topic, states[topic].Configs, progress[topic]))
	}
	return all, t.age(ctx, all, progress)
}

func newBacklog(topic string, configs map[string]string, progress map[int32]Progress) Backlog {
	b := Backlog{Topic: topic, Kept: milliseconds(configs[retentionMs])}
	if b.Kept == forever {
		b.Kept = 0
	}
	if n, err := strconv.ParseInt(configs[retentionBytes], 10, 64); err == nil && n > 0 {
		b.Bytes = n
	}
	for _, p := range progress {
		b.Waiting += p.Offsets()
		b.Deleted += p.Deleted
	}
	return b
}

// age fills in what is held, and what of the waiting is old.
func (t *Topics) age(ctx context.Context, all []Backlog, progress map[string]map[int32]Progress) error {
	starts, err := listed(t.admin.ListStartOffsets(ctx, slices.Sorted(maps.Keys(progress))...))
	if err != nil {
		return err
	}
	alike := make(map[time.Duration][]string) // one question for topics that keep equally long
	for _, b := range all {
		if b.Kept > 0 && b.Waiting > 0 {
			alike[b.Kept] = append(alike[b.Kept], b.Topic)
		}
	}
	young := make(map[string]map[int32]int64)
	for kept, topics := range alike {
		offsets, err := listed(t.admin.ListOffsetsAfterMilli(ctx, time.Now().Add(-kept*3/4).UnixMilli(), topics...))
		if err != nil {
			return err
		}
		for topic, partitions := range offsets {
			young[topic] = make(map[int32]int64, len(partitions))
			for partition, o := range partitions {
				young[topic][partition] = o.Offset
			}
		}
	}
	for i := range all {
		b := &all[i]
		for partition, p := range progress[b.Topic] {
			b.Held += max(p.End-starts[b.Topic][partition].Offset, 0)
			b.Aging += max(young[b.Topic][partition]-p.Committed, 0)
		}
	}
	return nil
}

// OffsetsKept returns for how long the brokers keep the offsets of a group without
// members, by the settings of one of them; zero where that is not known: brokers
// without such a setting, or a principal that may not see it.
func (t *Topics) OffsetsKept(ctx context.Context) (time.Duration, error) {
	const setting = "offsets.retention.minutes"
	brokers, err := t.admin.ListBrokers(ctx)
	if err != nil || len(brokers) == 0 {
		return 0, err
	}
	req := kmsg.NewPtrDescribeConfigsRequest()
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(brokers[0].NodeID))
	resource.ConfigNames = []string{setting}
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(ctx, t.client)
	if err != nil {
		return 0, fmt.Errorf("describe the settings of broker %s: %w", resource.ResourceName, err)
	}
	for _, r := range resp.Resources {
		err := kerr.ErrorForCode(r.ErrorCode)
		switch {
		case errors.Is(err, kerr.ClusterAuthorizationFailed):
			return 0, nil
		case err != nil:
			return 0, fmt.Errorf("describe the settings of broker %s: %w", r.ResourceName, err)
		}
		if minutes, err := strconv.ParseInt(configsOf(r)[setting], 10, 64); err == nil {
			return time.Duration(min(minutes, int64(math.MaxInt64/time.Minute))) * time.Minute, nil // the setting may be longer than a Duration
		}
	}
	return 0, nil
}
