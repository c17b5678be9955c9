package group

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// resumeTime bounds the look at what was finished before; the group waits for it.
const resumeTime = 5 * time.Second

// FinishedBefore reads which records of the partitions were finished beyond the
// group's offsets when they were last committed. The client reads the same offsets
// a moment later, but does not pass on their metadata.
//
// Should the broker not answer, nothing was finished: what was is delivered once
// more, which beats waiting.
func (m *Member) FinishedBefore(ctx context.Context, of map[string][]int32) map[dispatch.Place]offsets.Done {
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
		m.Logger.Warn("read of committed offsets failed, some events will be delivered again", "error", err)
		return nil
	}
	before := make(map[dispatch.Place]offsets.Done)
	for _, t := range resp.Groups[0].Topics {
		for _, p := range t.Partitions {
			if p.Metadata == nil || p.ErrorCode != 0 {
				continue
			}
			if done := offsets.Decode(p.Offset, *p.Metadata); !done.Empty() {
				before[dispatch.Place{Topic: t.Topic, Num: p.Partition}] = done
			}
		}
	}
	return before
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
