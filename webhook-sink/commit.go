package webhooksink

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
)

const (
	commitTime = 3 * time.Second
	// commitAgain is the pause after a commit that failed.
	commitAgain = time.Second
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
		if !s.commit(timed, nil) {
			pause = commitAgain
			s.dispatcher.Tell()
		}
		cancel()
	}
}

// commit commits the watermarks of the named partitions, or of all, and reports
// whether that succeeded. What fails is still dirty afterwards and goes with the
// next commit.
//
// Commits exclude each other from reading the watermarks to the answer. Were one
// to read them, a revocation to commit newer ones, and the first to be sent only
// then (the client holds commits back while the group is joining), it would take
// the group's offsets back on a partition that is no longer ours.
func (s *session) commit(ctx context.Context, of map[string][]int32) bool {
	s.committing.Lock()
	defer s.committing.Unlock()
	marks := s.dispatcher.Watermarks(of)
	if len(marks) == 0 {
		return true
	}
	err := s.send(ctx, marks)
	if errors.Is(err, kerr.OffsetMetadataTooLarge) {
		s.bare = true
		s.log.Warn("the brokers take less metadata with a commit than usual, so a stop will repeat some events: raise offset.metadata.max.bytes",
			"needed", offsets.MaxEncoded)
		err = s.send(ctx, marks)
	}
	if err != nil {
		s.metrics.commits.WithLabelValues(commitFailed).Inc()
		s.log.Warn("commit of offsets failed, trying again", "partitions", len(marks), "error", err)
		return false
	}
	s.metrics.commits.WithLabelValues(commitDone).Inc()
	s.dispatcher.Committed(marks)
	return true
}

func (s *session) send(ctx context.Context, marks []dispatch.Watermark) error {
	positions := make(map[string]map[int32]kgo.EpochOffset)
	done := make(map[dispatch.Place]string)
	for _, w := range marks {
		if positions[w.Topic] == nil {
			positions[w.Topic] = make(map[int32]kgo.EpochOffset)
		}
		positions[w.Topic][w.Num] = w.At
		if !s.bare {
			done[w.Place] = w.Done
		}
	}
	ctx = kgo.PreCommitFnContext(ctx, func(req *kmsg.OffsetCommitRequest) error {
		// The client has put its generation into the request by now. A session lost
		// before that has taken its partitions out of the dispatcher; one lost later
		// leaves a generation behind that the broker refuses.
		if !s.dispatcher.Holds(marks) {
			return errLost
		}
		describe(req, done)
		return nil
	})
	var failed error
	s.client.CommitOffsetsSync(ctx, positions, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		failed = err
		if err == nil {
			failed = firstError(resp)
		}
	})
	return failed
}

var errLost = errors.New("partitions were lost before their offsets could be committed")

// describe puts what is finished beyond each offset into a commit's metadata.
func describe(req *kmsg.OffsetCommitRequest, done map[dispatch.Place]string) {
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			text := done[dispatch.Place{Topic: t.Topic, Num: t.Partitions[j].Partition}]
			t.Partitions[j].Metadata = &text
		}
	}
}

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
