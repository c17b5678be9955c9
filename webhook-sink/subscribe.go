package webhooksink

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/subscription"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
)

// leftoverGrace is how long the topics of destinations that the workspace does
// not name are left alone after the start. The topic of a new destination is
// created before the workspace names it; a sink that starts between the two must
// not take its first events for those of a destination that was removed.
const leftoverGrace = 5 * time.Second

// follow keeps the subscription in step with the workspace, and our share with
// the group, until ctx ends.
func (s *session) follow(ctx context.Context, changed <-chan struct{}) {
	grace := time.NewTimer(leftoverGrace)
	defer grace.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			changed = s.set.Workspace.Changed()
			ws := s.set.Workspace.Load()
			s.account.Follow(ws)
			s.consumeAlso(ctx, subscription.DeliverTopics(ws))
		case <-grace.C:
			s.consumeAlso(ctx, s.sub.Leftovers())
		case <-s.reassigned:
			s.reshare(ctx)
		}
	}
}

// consumeAlso adds topics to those that are consumed. They were created before
// the workspace named them; to make sure costs one look, and a topic that is
// missing would be looked for by the client again and again.
func (s *session) consumeAlso(ctx context.Context, topics []string) {
	added := s.sub.Add(topics)
	if len(added) == 0 {
		return
	}
	ensured := func() error { return s.set.Topics.Ensure(ctx, added...) }
	if !s.persist(ctx, "create topics "+strings.Join(added, ", "), ensured) {
		return
	}
	s.log.Info("consuming more topics", "topics", slices.Clone(added))
	s.client.AddConsumeTopics(added...)
}

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
		s.log.Warn("broker request failed, trying again", "request", what, "pause", pause, "error", err)
		if !work.Rest(ctx, pause) {
			return false
		}
	}
}
