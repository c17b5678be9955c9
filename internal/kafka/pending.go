package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Pending returns the partitions of a topic for which a group has committed in a
// transaction that the brokers have not ended, each with the offset that was
// committed before (-1: none). A member that gets one of them waits for that end
// before it reads: for milliseconds as a rule, and for ever if the brokers have
// forgotten it.
func (t *Topics) Pending(ctx context.Context, group, topic string) (map[int32]int64, error) {
	req, err := t.stableOffsets(ctx, group, topic)
	if err != nil {
		return nil, err
	}
	resp, err := req.RequestWith(ctx, t.client)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	switch {
	case errors.Is(err, kerr.GroupIDNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("fetch the stable offsets of group %s: %w", group, err)
	}
	pending := make(map[int32]int64)
	for i := range resp.Topics {
		for _, p := range resp.Topics[i].Partitions {
			if errors.Is(kerr.ErrorForCode(p.ErrorCode), kerr.UnstableOffsetCommit) {
				pending[p.Partition] = -1
			}
		}
	}
	if len(pending) == 0 {
		return nil, nil
	}
	committed, err := t.committed(ctx, group)
	if err != nil {
		return nil, err
	}
	for partition := range pending {
		if before, known := committed.Lookup(topic, partition); known {
			pending[partition] = before.At
		}
	}
	return pending, nil
}

// stableOffsets asks for each partition by its number: asked for all, brokers leave
// out those of which nothing was committed before.
func (t *Topics) stableOffsets(ctx context.Context, group, topic string) (*kmsg.OffsetFetchRequest, error) {
	details, err := t.admin.ListTopics(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("look up topic %s: %w", topic, err)
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.RequireStable = group, true
	of := kmsg.NewOffsetFetchRequestTopic()
	of.Topic, of.Partitions = topic, details[topic].Partitions.Numbers()
	req.Topics = append(req.Topics, of)
	return req, nil
}
