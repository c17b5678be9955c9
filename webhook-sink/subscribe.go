package webhooksink

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/telemetry/seldom"
	"github.com/anabranch/anabranch/webhook-sink/internal/subscription"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
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
	again := time.NewTimer(firstPause)
	defer again.Stop()
	for pause := firstPause; ; {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			changed = s.set.Workspace.Changed()
			ws := s.set.Workspace.Load()
			s.account.Follow(ws)
			s.sub.Want(subscription.DeliverTopics(ws))
			pause = firstPause
		case <-grace.C:
			s.sub.Want(s.sub.Leftovers())
		case <-s.reassigned:
			s.reshare(ctx)
			continue
		case <-again.C:
		}
		if !s.consumeAlso(ctx) {
			again.Reset(pause)
			pause = min(2*pause, lastPause)
		}
	}
}

// obtainTime bounds one look for topics.
const obtainTime = 5 * time.Second

// consumeAlso has the client consume what is wanted and was not consumed before, and
// reports whether that is all. Whoever published the workspace has created its topics;
// to make sure costs one look, and a topic that is missing would be looked for by the
// client again and again.
func (s *session) consumeAlso(ctx context.Context) bool {
	if s.sub.Complete() {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, obtainTime)
	defer cancel()
	added, refused, err := s.sub.Obtain(ctx, s.set.Topics)
	switch {
	case errors.Is(err, context.Canceled): // ours: the session ends
	case err != nil:
		s.log.Warn("look for topics to consume failed, retrying", "error", err)
	default:
		s.refused(refused)
	}
	if len(added) > 0 {
		s.log.Info("consuming more topics", "topics", added)
		s.client.AddConsumeTopics(added...)
	}
	return s.sub.Complete()
}

// refused logs which topics can't be had, at most once in [seldom.Every]. What their
// destinations have waiting is delivered when they can.
func (s *Sink) refused(all map[string]error) {
	if len(all) == 0 {
		return
	}
	if _, ok := s.refusals.Admit(seldom.Kind{}, time.Now()); !ok {
		return
	}
	topics := slices.Sorted(maps.Keys(all))
	s.log.Error("topics cannot be consumed, retrying; all others are", "count", len(topics), "topics", topics[:min(len(topics), maxNamed)], "error", all[topics[0]])
}

// maxNamed is how many topics a line of the log names.
const maxNamed = 10

// The pauses between requests that fail.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// persist calls do until it succeeds, and reports false when ctx ended first.
func (s *Sink) persist(ctx context.Context, what string, do func() error) bool {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := do()
		if err == nil || ctx.Err() != nil {
			return err == nil
		}
		s.log.Warn("broker request failed, retrying", "request", what, "pause", pause, "error", err)
		if !work.Rest(ctx, pause) {
			return false
		}
	}
}
