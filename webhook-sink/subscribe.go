package webhooksink

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
)

// leftoverGrace is how long the topics of destinations that the workspace does
// not name are left alone after the start. The topic of a new destination is
// created before the workspace names it; a sink that starts between the two must
// not take its first events for those of a destination that was removed.
const leftoverGrace = 5 * time.Second

// subscription is which topics are consumed. It only grows: a destination that is
// removed leaves events behind, which end as dead letters.
type subscription struct {
	consumed map[string]bool
	// leftovers are topics of destinations unknown at the start.
	leftovers []string
}

// add returns those of topics that are not consumed yet, and counts them as such
// from now on.
func (s *subscription) add(topics []string) []string {
	var added []string
	for _, topic := range topics {
		if !s.consumed[topic] {
			s.consumed[topic] = true
			added = append(added, topic)
		}
	}
	return added
}

func deliverTopics(ws *workspace.Snapshot) []string {
	topics := make([]string, 0, len(ws.Destinations()))
	for _, dest := range ws.Destinations() {
		topics = append(topics, schemas.DeliverTopic(dest.ID))
	}
	return topics
}

// subscribe creates the topics that the sink needs and returns what to consume
// at first: the topics of all destinations and of all delays, those of an earlier
// configuration too, whose records would otherwise wait for ever.
func (s *Sink) subscribe(ctx context.Context) (*subscription, error) {
	needed := deliverTopics(s.set.Workspace.Load())
	for _, delay := range s.cfg.RetryDelays {
		needed = append(needed, schemas.RetryTopic(delay))
	}
	if err := s.set.Topics.Ensure(ctx, slices.Concat(needed, []string{schemas.TopicDeadLetters})...); err != nil {
		return nil, err
	}
	existing, err := s.set.Topics.List(ctx, "")
	if err != nil {
		return nil, err
	}
	sub := &subscription{consumed: make(map[string]bool)}
	sub.add(needed)
	for _, topic := range existing {
		if _, retry := schemas.RetryDelayOf(topic); retry {
			sub.add([]string{topic})
		} else if _, deliver := schemas.DestinationOf(topic); deliver && !sub.consumed[topic] {
			sub.leftovers = append(sub.leftovers, topic)
		}
	}
	return sub, nil
}

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
			s.metrics.follow(ws)
			s.consumeAlso(ctx, deliverTopics(ws))
		case <-grace.C:
			s.consumeAlso(ctx, s.sub.leftovers)
		case <-s.reassigned:
			s.reshare(ctx)
		}
	}
}

// consumeAlso adds topics to those that are consumed. They were created before
// the workspace named them; to make sure costs one look, and a topic that is
// missing would be looked for by the client again and again.
func (s *session) consumeAlso(ctx context.Context, topics []string) {
	added := s.sub.add(topics)
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
