package webhooksink

import (
	"context"
	"time"

	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/webhook-sink/internal/subscription"
)

// leftoverGrace is how long the topics of destinations that the workspace does
// not name are left alone after the start. The topic of a new destination is
// created before the workspace names it; a sink that starts between the two must
// not take its first events for those of a destination that was removed.
const leftoverGrace = 5 * time.Second

// follow keeps the subscription in step with the workspace, and our share with
// the group, until ctx ends. Topics that can't be had are asked for again beside all
// else: one destination's must not keep the others from being followed.
func (s *session) follow(ctx context.Context, changed <-chan struct{}) {
	grace := time.NewTimer(leftoverGrace)
	defer grace.Stop()
	again := time.NewTimer(waiting.First)
	defer again.Stop()
	for pause := waiting.First; ; {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			changed = s.set.Workspace.Changed()
			ws := s.set.Workspace.Load()
			s.metrics.Follow(ws)
			s.sub.Want(subscription.DeliverTopics(ws))
			pause = waiting.First
		case <-grace.C:
			s.sub.Want(s.sub.Leftovers())
		case <-s.reassigned:
			s.reshare(ctx)
			continue
		case <-again.C:
		}
		if !s.sub.Extend(ctx, s.set.Topics, s.refusals, s.client.AddConsumeTopics) {
			again.Reset(pause)
			pause = waiting.Next(pause)
		}
	}
}

// reshare tells the dispatcher which part of the group's retries is ours. A
// receiver that comes back gets its backlog from all members, which know nothing
// of one another; each holds itself to its part.
func (s *session) reshare(ctx context.Context) {
	total, err := s.set.Topics.Partitions(ctx, s.sub.Retries()...)
	if err != nil {
		s.log.Warn("counting the group's retry partitions failed, keeping the previous count", "error", err)
		return
	}
	ours := 0
	for _, p := range s.dispatcher.Progress() {
		if p.Destination == "" {
			ours++
		}
	}
	if total > 0 && ours > 0 {
		s.dispatcher.SetShare(min(float64(ours)/float64(total), 1))
	}
}
