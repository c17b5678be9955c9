package groups

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/internal/lookup"
	"github.com/anabranch/anabranch/internal/kafka/policy"
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
func Backlogs(ctx context.Context, cl *kgo.Client, group string, topics ...string) ([]Backlog, error) {
	lags, err := Lags(ctx, cl, group, topics...)
	if err != nil || len(lags) == 0 {
		return nil, err
	}
	topics = slices.Sorted(maps.Keys(lags))
	settings, err := lookup.Settings(ctx, cl, kmsg.ConfigResourceTypeTopic, []string{policy.RetentionMs, policy.RetentionBytes}, topics...)
	if err != nil && !errors.Is(err, lookup.ErrHidden) {
		return nil, err
	}
	all := make([]Backlog, 0, len(lags))
	for _, topic := range topics {
		all = append(all, newBacklog(topic, settings[topic], lags[topic]))
	}
	return all, age(ctx, kadm.NewClient(cl), all, lags)
}

func newBacklog(topic string, configs map[string]string, lags map[int32]Lag) Backlog {
	b := Backlog{Topic: topic}
	b.Kept, b.Bytes = policy.Bounds(configs)
	for _, p := range lags {
		b.Waiting += p.Offsets()
		b.Deleted += p.Deleted
	}
	return b
}

// age fills in what is held, and what of the waiting is old.
func age(ctx context.Context, admin *kadm.Client, all []Backlog, lags map[string]map[int32]Lag) error {
	starts, err := lookup.Listed(admin.ListStartOffsets(ctx, slices.Sorted(maps.Keys(lags))...))
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
		offsets, err := lookup.Listed(admin.ListOffsetsAfterMilli(ctx, time.Now().Add(-kept*3/4).UnixMilli(), topics...))
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
		for partition, p := range lags[b.Topic] {
			b.Held += max(p.End-starts[b.Topic][partition].Offset, 0)
			b.Aging += max(young[b.Topic][partition]-p.Committed, 0)
		}
	}
	return nil
}

// OffsetsKept returns for how long the brokers keep the offsets of a group without
// members, by the settings of one of them; zero where that is not known: brokers
// without such a setting, or a principal that may not see it.
func OffsetsKept(ctx context.Context, cl *kgo.Client) (time.Duration, error) {
	const setting = "offsets.retention.minutes"
	brokers, err := kadm.NewClient(cl).ListBrokers(ctx)
	if err != nil || len(brokers) == 0 {
		return 0, err
	}
	broker := strconv.Itoa(int(brokers[0].NodeID))
	found, err := lookup.Settings(ctx, cl, kmsg.ConfigResourceTypeBroker, []string{setting}, broker)
	if err != nil && !errors.Is(err, lookup.ErrHidden) {
		return 0, err
	}
	minutes, err := strconv.ParseInt(found[broker][setting], 10, 64)
	if err != nil {
		return 0, nil //nolint:nilerr // brokers that do not tell
	}
	return time.Duration(min(minutes, int64(math.MaxInt64/time.Minute))) * time.Minute, nil // the setting may be longer than a Duration
}
