package group

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// answer is what a commit came to.
type answer struct {
	// gone are the topics that the brokers do not know, or not under the id of those
	// whose records were finished.
	gone map[string]error
	err  error // of anything else
}

// send sends a commit of its own. The client's would wait for the end of a join
// that is under way, which takes until the last member has come or its session has
// ended; in those seconds the group takes commits all the same, and each that is
// not made is repeated after a kill.
//
// Each topic is named both ways: brokers that know ids in commits (version 10) go by
// those, so that what was finished of a deleted topic never counts for the one made
// anew under its name. The others read the name.
func (m *Member) send(ctx context.Context, by identity, marks []partition.Watermark) answer {
	if !m.Dispatcher.Holds(marks) {
		return answer{err: errLost}
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = m.Group, by.id, by.generation
	if m.InstanceID != "" {
		req.InstanceID = &m.InstanceID
	}
	topics := make(map[string]*kmsg.OffsetCommitRequestTopic)
	for _, w := range marks {
		t := topics[w.Topic]
		if t == nil {
			t = new(kmsg.NewOffsetCommitRequestTopic())
			t.Topic, t.TopicID = w.Topic, w.ID
			topics[w.Topic] = t
		}
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch = w.Num, w.At.Offset, w.At.Epoch
		p.Metadata = m.detail.metadata(w)
		t.Partitions = append(t.Partitions, p)
	}
	if err := m.identify(ctx, topics); err != nil {
		return answer{err: err}
	}
	for _, t := range topics {
		req.Topics = append(req.Topics, *t)
	}
	resp, err := req.RequestWith(ctx, m.Client)
	if err != nil {
		return answer{err: err}
	}
	return read(resp, topics)
}

// identify looks up the ids of topics that were fetched without one. There may be some
// while brokers are upgraded, one of which goes by ids already.
func (m *Member) identify(ctx context.Context, topics map[string]*kmsg.OffsetCommitRequestTopic) error {
	var unsaid []string
	for name, t := range topics {
		if t.TopicID == (offsets.TopicID{}) {
			unsaid = append(unsaid, name)
		}
	}
	described, err := m.describe(ctx, unsaid)
	for _, t := range described {
		topics[*t.Topic].TopicID = t.TopicID
	}
	return err
}

var errLost = errors.New("partitions were lost before their offsets could be committed")

// read tells topics that are gone from other errors, of which the first counts.
func read(resp *kmsg.OffsetCommitResponse, asked map[string]*kmsg.OffsetCommitRequestTopic) answer {
	a := answer{gone: make(map[string]error)}
	names := make(map[offsets.TopicID]string, len(asked))
	for name, t := range asked {
		names[t.TopicID] = name
	}
	for _, t := range resp.Topics {
		name := t.Topic
		if name == "" {
			name = names[t.TopicID]
		}
		for _, p := range t.Partitions {
			switch err := kerr.ErrorForCode(p.ErrorCode); {
			case err == nil:
			case errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.UnknownTopicID):
				a.gone[name] = err
			case a.err == nil:
				a.err = err
			}
		}
	}
	return a
}

// detail is how much metadata goes with a commit: as much as the brokers take.
type detail uint8

const (
	everything detail = iota
	originOnly        // of which topic the offset is
	nothing
)

func (d detail) metadata(w partition.Watermark) *string {
	switch d {
	case everything:
		return new(offsets.Metadata(offsets.OriginOf(w.ID), w.Done))
	case originOnly:
		return new(offsets.Metadata(offsets.OriginOf(w.ID), ""))
	default: // nothing
		return nil
	}
}
