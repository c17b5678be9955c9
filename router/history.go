package router

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// routedBefore reports whether anything of raw-events may have been routed, of which
// the group knows nothing.
func (r *Router) routedBefore(ctx context.Context, extents map[int32]kafka.Extent) (bool, error) {
	topics, err := r.set.Topics.List(ctx, schemas.DeliverTopic(""))
	if err != nil {
		return false, err
	}
	fresh, err := r.fresh(ctx, extents, topics)
	if err != nil || fresh {
		return false, err
	}
	return r.history(ctx, topics)
}

// fresh reports whether raw-events was made anew since anything was routed: it holds
// nothing yet, or nothing that is not later than all that destinations' topics have
// got. Brokers delete a group's offsets with the topic, and people make it anew to give
// it more partitions.
func (r *Router) fresh(ctx context.Context, extents map[int32]kafka.Extent, topics []string) (bool, error) {
	all, err := r.set.Topics.Partitions(ctx, r.source)
	if err != nil || all != len(extents) {
		return false, err // of one without a leader nothing is known
	}
	newest, err := r.set.Topics.Newest(ctx, topics...)
	if err != nil {
		r.log.Debug("look at the destinations' newest events failed", "error", err)
		return false, nil // as where one has no leader; history asks again
	}
	times := make(map[int32]time.Time)
	for num, extent := range extents {
		if extent.Start < extent.End {
			times[num] = newest
		}
	}
	if len(times) == 0 || newest.IsZero() {
		return len(times) == 0, nil
	}
	first, err := r.set.Topics.FirstAfter(ctx, r.source, times)
	for num := range times {
		if at, ok := first[num]; !ok || at > extents[num].Start {
			return false, err
		}
	}
	return true, err
}

// history reports whether anything was ever routed to a destination that there still
// is. Ends of topics never go back, but they tell of aborted transactions too: the
// first of a new installation may have been one. So where all is there that a topic
// has ever held, it is read. A partition without a leader tells nothing, and the
// others of its topic tell enough; not so a topic without any.
func (r *Router) history(ctx context.Context, topics []string) (bool, error) {
	extents, err := r.set.Topics.Extents(ctx, topics...)
	if err != nil {
		return false, err
	}
	unread := make(map[string]map[int32]kgo.Offset)
	for _, topic := range topics {
		if len(extents[topic]) == 0 {
			return false, fmt.Errorf("%s: the brokers do not tell what it holds", topic)
		}
	}
	for topic, partitions := range extents {
		for num, extent := range partitions {
			switch {
			case extent.Start > 0:
				return true, nil
			case extent.Stable > 0:
				if unread[topic] == nil {
					unread[topic] = make(map[int32]kgo.Offset)
				}
				unread[topic][num] = kgo.NewOffset().AtStart()
			}
		}
	}
	return r.holdsAny(ctx, unread, extents)
}

// holdsAny reads partitions up to their first record, or up to their end.
func (r *Router) holdsAny(ctx context.Context, unread map[string]map[int32]kgo.Offset, extents map[string]map[int32]kafka.Extent) (bool, error) {
	left := 0
	for _, partitions := range unread {
		left += len(partitions)
	}
	if left == 0 {
		return false, nil
	}
	client, err := kgo.NewClient(append(append([]kgo.Opt{}, r.set.Kafka...),
		kgo.ConsumePartitions(unread), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.FetchMaxWait(fetchWait))...)
	if err != nil {
		return false, fmt.Errorf("create a client to read what was routed: %w", err)
	}
	defer client.Close()
	for left > 0 {
		fetches := client.PollFetches(ctx)
		switch err := fetches.Err(); {
		case errors.Is(err, kerr.TopicAuthorizationFailed):
			return true, nil // to read them is no part of a router's rights: it may be
		case err != nil:
			return false, fmt.Errorf("read what was routed: %w", err)
		}
		found := false
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			for _, rec := range p.Records {
				found = found || !rec.Attrs.IsControl()
				if rec.Offset+1 == extents[p.Topic][p.Partition].Stable {
					left-- // a transaction's marker, or the last record
				}
			}
		})
		if found {
			return true, nil
		}
	}
	return false, nil
}
