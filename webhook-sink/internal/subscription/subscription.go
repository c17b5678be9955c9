// Package subscription says which topics the sink consumes: those of all
// destinations and of all retry delays.
package subscription

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Subscription is which topics are consumed. It only grows: a destination that is
// removed leaves events behind, which end as dead letters. It is not safe for
// concurrent use.
type Subscription struct {
	consumed  map[string]bool
	leftovers []string
}

// Find creates the topics that the sink needs and returns what to consume at
// first: the topics of all destinations and of all delays, those of an earlier
// configuration too, whose records would otherwise wait for ever.
func Find(ctx context.Context, topics *kafka.Topics, ws *workspace.Snapshot, delays []time.Duration) (*Subscription, error) {
	needed := DeliverTopics(ws)
	for _, delay := range delays {
		needed = append(needed, schemas.RetryTopic(delay))
	}
	if err := topics.Ensure(ctx, slices.Concat(needed, []string{schemas.TopicDeadLetters})...); err != nil {
		return nil, err
	}
	existing, err := topics.List(ctx, "")
	if err != nil {
		return nil, err
	}
	return among(needed, existing), nil
}

// among returns a subscription to the topics needed, and to what else there is to
// consume among those that exist.
func among(needed, existing []string) *Subscription {
	s := &Subscription{consumed: make(map[string]bool)}
	s.Add(needed)
	for _, topic := range existing {
		if _, retry := schemas.RetryDelayOf(topic); retry {
			s.Add([]string{topic})
		} else if _, deliver := schemas.DestinationOf(topic); deliver && !s.consumed[topic] {
			s.leftovers = append(s.leftovers, topic)
		}
	}
	return s
}

// Add returns those of topics that are not consumed yet, and counts them as such
// from now on.
func (s *Subscription) Add(topics []string) []string {
	var added []string
	for _, topic := range topics {
		if !s.consumed[topic] {
			s.consumed[topic] = true
			added = append(added, topic)
		}
	}
	return added
}

// Topics returns all that is consumed, in the order of names.
func (s *Subscription) Topics() []string { return slices.Sorted(maps.Keys(s.consumed)) }

// Retries returns the retry topics that are consumed.
func (s *Subscription) Retries() []string {
	return slices.DeleteFunc(s.Topics(), func(topic string) bool {
		_, retry := schemas.RetryDelayOf(topic)
		return !retry
	})
}

// Leftovers returns the topics of destinations that were unknown at the start,
// whether they have been added since or not.
func (s *Subscription) Leftovers() []string { return s.leftovers }

// DeliverTopics returns the topics of a workspace's destinations.
func DeliverTopics(ws *workspace.Snapshot) []string {
	topics := make([]string, 0, len(ws.Destinations()))
	for _, dest := range ws.Destinations() {
		topics = append(topics, schemas.DeliverTopic(dest.ID))
	}
	return topics
}
