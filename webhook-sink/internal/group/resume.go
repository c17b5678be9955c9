package group

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// resumeTime bounds the look at what was finished before; the group waits for it.
const resumeTime = 5 * time.Second

// FinishedBefore reads which records of the partitions were finished beyond the
// group's offsets when they were last committed. The client reads the same offsets
// a moment later, but does not pass on their metadata. What is committed of an earlier
// topic of the same name is passed over, here and in Begin.
//
// Should the broker not answer, nothing was finished: what was is delivered once
// more, which beats waiting.
func (m *Member) FinishedBefore(ctx context.Context, of map[string][]int32) map[partition.Place]offsets.Done {
	if len(of) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, resumeTime)
	defer cancel()
	resp, err := m.offsetFetch(of).RequestWith(ctx, m.Client)
	if err == nil {
		err = offsetFetchError(resp)
	}
	if err != nil {
		m.Logger.Warn("reading committed offsets failed, some events will be delivered again", "error", err)
		return nil
	}
	commits := make(map[partition.Place]commit)
	before := make(map[partition.Place]offsets.Done)
	for _, t := range resp.Groups[0].Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				continue
			}
			at, c := partition.Place{Topic: t.Topic, Num: p.Partition}, commit{offset: p.Offset, epoch: p.LeaderEpoch}
			if p.Metadata != nil {
				c.of = offsets.OriginIn(*p.Metadata)
				before[at] = offsets.Decode(p.Offset, *p.Metadata)
			}
			if last, ok := m.recall(at, c); ok {
				c.offset, c.epoch, before[at] = last.at.Offset, last.at.Epoch, offsets.Decode(last.at.Offset, last.done)
			}
			commits[at] = c
		}
	}
	m.judge(ctx, commits)
	maps.DeleteFunc(before, func(at partition.Place, done offsets.Done) bool {
		begin, _ := m.noted(at)
		return done.Empty() || begin == atStart
	})
	return before
}

// recall notes whether this process has committed more of a partition than the group
// shows, and forgets what was noted of it before.
func (m *Member) recall(at partition.Place, shown commit) (remembered, bool) {
	m.resuming.Lock()
	delete(m.begins, at)
	m.resuming.Unlock()
	last, ok := m.Memory.beyond(at, shown)
	if ok {
		m.note(at, last.at)
		m.Logger.Error("brokers lost a commit that they had confirmed: deliveries continue from the position that this sink knows",
			"topic", at.Topic, "partition", at.Num, "committed", shown.offset, "begin", last.at.Offset)
	}
	return last, ok
}

func (m *Member) offsetFetch(of map[string][]int32) *kmsg.OffsetFetchRequest {
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group = m.Group
	for topic, nums := range of {
		t := kmsg.NewOffsetFetchRequestGroupTopic()
		t.Topic, t.Partitions = topic, nums
		group.Topics = append(group.Topics, t)
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Groups = append(req.Groups, group)
	return req
}

func offsetFetchError(resp *kmsg.OffsetFetchResponse) error {
	if len(resp.Groups) != 1 {
		return errors.New("the answer is not about one group")
	}
	return errors.Join(kerr.ErrorForCode(resp.ErrorCode), kerr.ErrorForCode(resp.Groups[0].ErrorCode))
}
