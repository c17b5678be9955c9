package webhooksink

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
)

const (
	commitTime = 3 * time.Second
	// commitAgain is the pause after a commit that failed, and commitSoon that after
	// one that came at a bad moment of a rebalance.
	commitAgain = time.Second
	commitSoon  = 100 * time.Millisecond
)

// commitLoop commits soon after something has finished, until ctx ends; while
// nothing does, it sleeps. It does not break off a commit under way: the client
// would drop the connection, and the broker could take up that commit behind the
// last one of all, which would set the offsets back and let a clean stop repeat
// events.
func (s *session) commitLoop(ctx context.Context) {
	for pause := s.commitEvery; ; {
		select {
		case <-ctx.Done():
			return
		case <-s.dispatcher.Finished():
		}
		if !work.Rest(ctx, pause) {
			return
		}
		timed, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
		pause = s.commitEvery
		if again := s.commit(timed, nil); again > 0 {
			pause = again
			s.dispatcher.Tell()
		}
		cancel()
	}
}

// commitLast commits what is left of the named partitions, or of all, until it
// succeeds or ctx ends.
func (s *session) commitLast(ctx context.Context, of map[string][]int32) {
	for {
		again := s.commit(ctx, of)
		if again == 0 || !work.Rest(ctx, again) {
			return
		}
	}
}

// commit commits the watermarks of the named partitions, or of all. What fails is
// still dirty afterwards and goes with the next commit, which is worth trying after
// the time returned; zero means that it succeeded.
//
// Commits exclude each other from reading the watermarks to the answer. Were one
// to read them, a revocation to commit newer ones, and the first to be sent only
// then, it would take the group's offsets back on a partition that is no longer
// ours.
func (s *session) commit(ctx context.Context, of map[string][]int32) (again time.Duration) {
	s.committing.Lock()
	defer s.committing.Unlock()
	// First of all: a session that is lost from here on leaves a generation behind
	// that the broker refuses.
	member := s.member()
	marks := s.dispatcher.Watermarks(of)
	if len(marks) == 0 {
		return 0
	}
	err := s.send(ctx, member, marks)
	if errors.Is(err, kerr.OffsetMetadataTooLarge) {
		s.bare = true
		s.log.Warn("the brokers take less metadata with a commit than usual, so a stop will repeat some events: raise offset.metadata.max.bytes",
			"needed", offsets.MaxEncoded)
		err = s.send(ctx, member, marks)
	}
	switch {
	case err == nil:
		s.metrics.commits.WithLabelValues(commitDone).Inc()
		s.dispatcher.Committed(marks)
		return 0
	case errors.Is(err, kerr.RebalanceInProgress), errors.Is(err, kerr.IllegalGeneration):
		return commitSoon // between two generations, which takes a moment
	default:
		s.metrics.commits.WithLabelValues(commitFailed).Inc()
		s.log.Warn("commit of offsets failed, trying again", "partitions", len(marks), "error", err)
		return commitAgain
	}
}

// member is what the group knows us by.
type member struct {
	id         string
	generation int32
}

func (s *session) member() member {
	id, generation := s.client.GroupMetadata()
	return member{id, generation}
}

// send sends a commit of its own. The client's would wait for the end of a join
// that is under way, which takes until the last member has come or its session has
// ended; in those seconds the group takes commits all the same, and each that is
// not made is repeated after a kill.
func (s *session) send(ctx context.Context, by member, marks []dispatch.Watermark) error {
	if !s.dispatcher.Holds(marks) {
		return errLost
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = Group, by.id, by.generation
	if s.set.InstanceID != "" {
		req.InstanceID = &s.set.InstanceID
	}
	topics := make(map[string][]kmsg.OffsetCommitRequestTopicPartition)
	for _, w := range marks {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch = w.Num, w.At.Offset, w.At.Epoch
		if !s.bare {
			p.Metadata = &w.Done
		}
		topics[w.Topic] = append(topics[w.Topic], p)
	}
	for topic, partitions := range topics {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.Partitions = topic, partitions
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, s.client)
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
