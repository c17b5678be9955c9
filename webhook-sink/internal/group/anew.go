package group

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// commit is what the group keeps for a partition.
type commit struct {
	offset int64
	epoch  int32          // of the record before the offset, -1 when that is not known
	of     offsets.Origin // zero when the commit does not say
}

// present is what a partition is now.
type present struct {
	of    offsets.Origin // that commits of it have, zero when the brokers do not say
	epoch int32          // of its leader
	end   int64          // -1 when that is not known
}

// stale reports whether a commit is of an earlier topic than the one that bears the
// name now. Its offset says nothing about that one, all of which is unread.
//
// Without ids it takes a commit beyond the end. A log that only lost its tail has had
// another leader since, of a higher epoch; one that was made anew begins with the
// lowest. To take the former for the latter would deliver a week of events again.
func stale(c commit, p present) bool {
	switch {
	case c.offset <= 0:
		return false
	case c.of != 0 && p.of != 0:
		return c.of != p.of
	default:
		return p.end >= 0 && c.offset > p.end && p.epoch <= c.epoch
	}
}

// judge notes which partitions are to be read from their start, whatever is committed.
func (m *Member) judge(ctx context.Context, commits map[partition.Place]commit) {
	now, err := m.look(ctx, commits)
	if err != nil {
		m.Logger.Warn("looking up topics failed, using the committed offsets as they are", "error", err)
	}
	for at, c := range commits {
		if p, known := now[at]; known && stale(c, p) {
			m.note(at, atStart)
			m.Logger.Warn("topic was recreated since its offset was committed, reading it from its beginning",
				"topic", at.Topic, "partition", at.Num, "committed", c.offset)
		}
	}
}

// atStart is the first record, in place of an offset.
var atStart = kgo.EpochOffset{Offset: -1}

// note keeps where reading of a partition begins, other than the group's commit says.
func (m *Member) note(at partition.Place, begin kgo.EpochOffset) {
	m.resuming.Lock()
	defer m.resuming.Unlock()
	m.begins[at] = begin
}

func (m *Member) noted(at partition.Place) (begin kgo.EpochOffset, ok bool) {
	m.resuming.Lock()
	defer m.resuming.Unlock()
	begin, ok = m.begins[at]
	return begin, ok
}

// Begin corrects where reading begins: not where a commit of an earlier topic says, but
// behind what the brokers have lost of our own, and where reading stopped when keys that
// are set aside hold the commit back.
// The client calls it with the group's offsets, after FinishedBefore was asked.
func (m *Member) Begin(_ context.Context, all map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	for topic, partitions := range all {
		for num, offset := range partitions {
			at := partition.Place{Topic: topic, Num: num}
			begin, ok := m.noted(at)
			if ok && begin == atStart {
				offset = kgo.NewOffset().AtStart()
			} else if ok && begin.Offset > offset.EpochOffset().Offset {
				offset = kgo.NewOffset().At(begin.Offset).WithEpoch(begin.Epoch)
			}
			if resume, ok := m.Dispatcher.Resume(at, offset.EpochOffset().Offset); ok {
				offset = kgo.NewOffset().At(resume.Offset).WithEpoch(resume.Epoch)
			}
			partitions[num] = offset
		}
	}
	return all, nil
}

// look returns what the partitions of commits are now.
func (m *Member) look(ctx context.Context, commits map[partition.Place]commit) (map[partition.Place]present, error) {
	now := make(map[partition.Place]present, len(commits))
	topics, err := m.describe(ctx, topicsOf(commits, func(c commit) bool { return c.offset > 0 }))
	if err != nil {
		return nil, err
	}
	for _, t := range topics {
		for _, p := range t.Partitions {
			now[partition.Place{Topic: *t.Topic, Num: p.Partition}] = present{of: offsets.OriginOf(t.TopicID), epoch: p.LeaderEpoch, end: -1}
		}
	}
	unsaid := topicsOf(commits, func(c commit) bool { return c.offset > 0 && c.of == 0 })
	if len(unsaid) == 0 {
		return now, nil
	}
	ends, err := m.Ends(ctx, unsaid...)
	for topic, partitions := range ends {
		for num, end := range partitions {
			at := partition.Place{Topic: topic, Num: num}
			if p, known := now[at]; known {
				p.end = end
				now[at] = p
			}
		}
	}
	return now, err
}

func topicsOf(commits map[partition.Place]commit, which func(commit) bool) []string {
	var topics []string
	for at, c := range commits {
		if which(c) {
			topics = append(topics, at.Topic)
		}
	}
	slices.Sort(topics)
	return slices.Compact(topics)
}

// describe asks for the ids and leaders of topics.
func (m *Member) describe(ctx context.Context, topics []string) ([]kmsg.MetadataResponseTopic, error) {
	if len(topics) == 0 {
		return nil, nil // none would mean all
	}
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, m.Client)
	if err != nil {
		return nil, fmt.Errorf("describe topics: %w", err)
	}
	return slices.DeleteFunc(resp.Topics, func(t kmsg.MetadataResponseTopic) bool { return t.Topic == nil || t.ErrorCode != 0 }), nil
}
