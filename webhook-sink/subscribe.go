package webhooksink

import (
	"context"
	"time"

	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/subscription"
)

// leftoverGrace is how long the topics of destinations that the workspace does
// not name are left alone after the start. The topic of a new destination is
// created before the workspace names it; a sink that starts between the two must
// not take its first events for those of a destination that was removed.
const leftoverGrace = 5 * time.Second

const (
	// replaysEvery is how often it is looked whether replays have come to have topics.
	replaysEvery = 3 * time.Second
	// replaysShare bounds the part of the time that looks take: with ten thousand
	// destinations, brokers answer with a megabyte.
	replaysShare = 50
	replaysTime  = 5 * time.Second
)

// follow keeps the subscription in step with the workspace, and our share with
// the group, until ctx ends. Topics that can't be had are asked for again beside all
// else: one destination's must not keep the others from being followed.
func (s *session) follow(ctx context.Context, changed <-chan struct{}) {
	grace := time.NewTimer(leftoverGrace)
	defer grace.Stop()
	again := time.NewTimer(waiting.First)
	defer again.Stop()
	look := time.NewTimer(replaysEvery)
	defer look.Stop()
	for pause := waiting.First; ; {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			changed = s.set.Workspace.Changed()
			ws := s.set.Workspace.Load()
			s.obey(ws)
			s.metrics.Follow(ws)
			s.sub.Want(subscription.DeliverTopics(ws))
			pause = waiting.First
		case <-grace.C:
			s.sub.Want(s.sub.Leftovers())
		case <-s.reassigned:
			s.reshare(ctx)
			continue
		case <-look.C:
			look.Reset(max(replaysEvery, replaysShare*s.lookForReplays(ctx)))
		case <-again.C:
		}
		if !s.sub.Extend(ctx, s.set.Topics, s.refusals, s.client.AddConsumeTopics) {
			again.Reset(pause)
			pause = waiting.Next(pause)
		}
	}
}

// lookForReplays wants the topics of replays that have come to exist, and returns how long
// the look took.
func (s *session) lookForReplays(ctx context.Context) time.Duration {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, replaysTime)
	defer cancel()
	existing, err := s.set.Topics.List(ctx, schemas.ReplayPrefix)
	if err != nil {
		s.log.Debug("looking for topics of replays failed, retrying", "error", err)
	}
	s.sub.Replays(existing)
	return time.Since(began)
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
