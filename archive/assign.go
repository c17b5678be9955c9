package archive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/archive/internal/cut"
	"github.com/anabranch/anabranch/archive/internal/group"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
)

// begin is called with the group's offsets of new partitions. It reads their marks, which the
// client passes over, and says where reading begins: behind what is announced.
//
// Marks are read in the generation that has just begun. Whatever commits of an earlier one
// are still under way, the group refuses.
func (s *session) begin(ctx context.Context, all map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	topics := slices.Collect(maps.Keys(all))
	ids, err := group.IDs(ctx, s.client, topics...)
	if err != nil {
		return nil, err
	}
	extents, err := s.set.Topics.Extents(ctx, topics...)
	if err != nil {
		return nil, err
	}
	for topic, partitions := range all {
		commits, err := s.set.Topics.Commits(ctx, Group, topic)
		if err != nil {
			return nil, fmt.Errorf("read what is committed for %s: %w", topic, err)
		}
		for num := range partitions {
			at := kafka.Partition{Topic: topic, Num: num}
			extent, known := extents[topic][num]
			if !known {
				return nil, fmt.Errorf("%s has no leader", at)
			}
			p := s.newPart(at, ids[topic], s.markOf(at, commits, ids[topic], extent))
			s.have(p)
			partitions[num] = kgo.NewOffset().At(p.way.Next())
		}
	}
	s.joined.Store(true)
	return all, nil
}

// markOf is where a partition goes on.
func (s *session) markOf(at kafka.Partition, commits map[int32]kafka.Commit, topic cut.TopicID, extent kafka.Extent) cut.Mark {
	c, committed := commits[at.Num]
	if !committed {
		return cut.Mark{From: extent.Start}
	}
	mark, of, err := cut.Parse(c.Offset, c.Metadata)
	if err != nil {
		s.log.Warn("the committed offset does not say what is being archived: going on from the offset", "topic", at.Topic, "partition", at.Num, "error", err)
	}
	if of != topic && of != (cut.TopicID{}) && topic != (cut.TopicID{}) {
		s.log.Warn("topic was recreated since its offset was committed, archiving it from its beginning",
			"topic", at.Topic, "partition", at.Num, "committed", c.Offset)
		return cut.Mark{From: extent.Start}
	}
	if end := s.endOf(at, extent.End); end < mark.From {
		s.losses.Count(at.Topic, groups.Truncated, mark.From-end)
		s.log.Error("the end of a partition is gone: archiving goes on with what follows",
			"topic", at.Topic, "partition", at.Num, "archived", mark.From, "end", end)
		return cut.Mark{From: end}
	}
	return mark
}

// truncated notes where a log ended that has lost its end.
func (a *Archive) truncated(at kafka.Partition, err error) {
	if loss, ok := errors.AsType[*kgo.ErrDataLoss](err); ok {
		a.ends.Store(at, loss.ResetTo)
	}
}

// endOf is where a log ended when it lost its end, if it did, else where it ends.
func (a *Archive) endOf(at kafka.Partition, end int64) int64 {
	if lost, ok := a.ends.LoadAndDelete(at); ok {
		return lost.(int64) //nolint:forcetypeassert // nothing else is stored
	}
	return end
}

func (s *session) have(p *part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.parts[p.Partition]; before != nil {
		before.cancel()
	}
	s.parts[p.Partition] = p
	s.client.ResumeFetchPartitions(map[string][]int32{p.Topic: {p.Num}})
}

// gone is called when partitions go, in good order or not. Nobody has to be waited for: what
// is being written is what whoever has the partition next writes first, and what is being
// committed the group refuses once it has a new generation.
func (s *session) gone(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range kafka.Partitions(gone) {
		if p := s.parts[at]; p != nil {
			p.cancel()
			delete(s.parts, at)
		}
	}
}
