package group

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
)

// offsetCommitVersion is the last that names topics by name, and not by an id that
// has to be looked up.
const offsetCommitVersion = 9

// Versions are those of the protocol that the client of a [Member] may speak.
func Versions() *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(kmsg.OffsetCommit.Int16(), offsetCommitVersion)
	return v
}

// send sends a commit of its own. The client's would wait for the end of a join
// that is under way, which takes until the last member has come or its session has
// ended; in those seconds the group takes commits all the same, and each that is
// not made is repeated after a kill.
func (m *Member) send(ctx context.Context, by identity, marks []dispatch.Watermark) error {
	if !m.Dispatcher.Holds(marks) {
		return errLost
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = m.Group, by.id, by.generation
	if m.InstanceID != "" {
		req.InstanceID = &m.InstanceID
	}
	topics := make(map[string][]kmsg.OffsetCommitRequestTopicPartition)
	for _, w := range marks {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch = w.Num, w.At.Offset, w.At.Epoch
		if !m.bare {
			p.Metadata = &w.Done
		}
		topics[w.Topic] = append(topics[w.Topic], p)
	}
	for topic, partitions := range topics {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.Partitions = topic, partitions
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, m.Client)
	if err != nil {
		return err
	}
	return firstError(resp)
}

var errLost = errors.New("partitions were lost before their offsets could be committed")

func firstError(resp *kmsg.OffsetCommitResponse) error {
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			if err := kerr.ErrorForCode(resp.Topics[i].Partitions[j].ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}
