package webhooksink

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/telemetry/seldom"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
)

const (
	// partBytes is how much of a partition is read once more at a time, as the brokers
	// store it, and rereads for how many partitions at once: all of it is in memory
	// until the few records are copied that are wanted of it.
	partBytes = 256 << 10
	rereads   = 2

	// rereadPause is between two tries, and rereadTime bounds one.
	rereadPause = time.Second
	rereadTime  = 10 * time.Second
)

// reread reads parts of a partition once more, for keys that are set aside, until
// nothing is wanted of it for now.
func (s *session) reread(ctx context.Context, r *dispatch.Reread) {
	for r != nil && ctx.Err() == nil {
		part, err := s.part(ctx, r)
		switch {
		case err != nil:
			s.rereadFailed(ctx, r, err)
			part = &kafka.Part{Next: r.From}
		case part.Deleted:
			s.account.AsideLost()
			s.log.Error("events lost: retention deleted events of a busy user before their first attempt",
				"topic", r.Topic, "partition", r.Num, "from", r.From, "to", part.Next)
		}
		if part.Next <= r.From && !work.Rest(ctx, rereadPause) {
			return
		}
		r = s.dispatcher.Bring(r, part.Records, part.Next)
	}
}

func (s *session) part(ctx context.Context, r *dispatch.Reread) (*kafka.Part, error) {
	select {
	case s.rereading <- struct{}{}:
		defer func() { <-s.rereading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, rereadTime)
	defer cancel()
	return s.set.Topics.Part(ctx, r.Topic, r.Num, r.From, partBytes)
}

// rereadFailed logs a failure, at most one in [seldom.Every]: while no broker answers
// every partition has one, again and again.
func (s *session) rereadFailed(ctx context.Context, r *dispatch.Reread, err error) {
	if ctx.Err() != nil {
		return
	}
	if passed, ok := s.rereadFailures.Admit(seldom.Kind{}, time.Now()); ok {
		s.log.Warn("read of a busy user's earlier events failed, retrying", "topic", r.Topic, "partition", r.Num, "passed_over", passed, "error", err)
	}
}

// resume has the client go on where reading stopped, which is not where the group's
// commit is when keys of a partition are set aside.
func (s *session) resume(all map[string]map[int32]kgo.Offset) {
	for topic, partitions := range all {
		for num, offset := range partitions {
			if at, ok := s.dispatcher.Resume(dispatch.Place{Topic: topic, Num: num}, offset.EpochOffset().Offset); ok {
				partitions[num] = kgo.NewOffset().At(at.Offset).WithEpoch(at.Epoch)
			}
		}
	}
}
