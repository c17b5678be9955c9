// Package subscription says which topics the sink consumes: those of all
// destinations with webhooks, of all retry delays, and those of replays that exist. A
// destination has one of the latter from its first replay on, and most never do: so they
// are looked for, and never created.
package subscription

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Subscription is which topics are consumed. It only grows: a destination that is
// removed leaves events behind, which end as dead letters. It is not safe for
// concurrent use.
type Subscription struct {
	consumed  map[string]bool
	wanted    map[string]bool // and not had yet
	leftovers []string
	strange   map[string]bool // topics of replays to destinations that are not known, at the last look
}

// Find creates the topics that the sink needs and returns what to consume at
// first: the topics of all destinations and of all delays, those of an earlier
// configuration too, whose records would otherwise wait for ever. What can't be had
// is wanted from then on, and holds up nothing else; refused says why.
func Find(ctx context.Context, admin *topics.Admin, ws *workspace.Snapshot, delays []time.Duration) (s *Subscription, refused map[string]error, err error) {
	needed := DeliverTopics(ws)
	for _, delay := range delays {
		needed = append(needed, schemas.RetryTopic(delay))
	}
	refused, err = admin.Create(ctx, slices.Concat(needed, []string{schemas.TopicDeadLetters})...)
	if err != nil {
		return nil, nil, err
	}
	existing, err := admin.List(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	return among(needed, existing, refused), refused, nil
}

// among returns a subscription to the topics needed, and to what else there is to
// consume among those that exist.
func among(needed, existing []string, refused map[string]error) *Subscription {
	s := &Subscription{consumed: make(map[string]bool), wanted: make(map[string]bool)}
	s.Want(needed)
	s.have(refused)
	for _, topic := range existing {
		if _, retry := schemas.RetryDelayOf(topic); retry {
			s.consumed[topic] = true
		} else if _, deliver := schemas.DestinationOf(topic); deliver && !s.consumed[topic] && !s.wanted[topic] {
			s.leftovers = append(s.leftovers, topic)
		} else if s.isReplay(topic) {
			s.consumed[topic] = true
		}
	}
	return s
}

// isReplay reports whether a topic is that of replays to a destination which is known.
func (s *Subscription) isReplay(topic string) bool {
	id, replay := schemas.ReplayedTo(topic)
	live := schemas.DeliverTopic(id)
	return replay && (s.consumed[live] || s.wanted[live])
}

// Replays wants the topics of replays that have come to exist. A destination that is not
// known may be a new one, whose events are no dead letters; if it is not known at the next
// look either, it was removed.
func (s *Subscription) Replays(existing []string) {
	strange := make(map[string]bool)
	for _, topic := range existing {
		switch _, replay := schemas.ReplayedTo(topic); {
		case !replay, s.consumed[topic]:
		case s.isReplay(topic), s.strange[topic]:
			s.Want([]string{topic})
		default:
			strange[topic] = true
		}
	}
	s.strange = strange
}

// Want notes topics that are to be consumed.
func (s *Subscription) Want(topics []string) {
	for _, topic := range topics {
		if !s.consumed[topic] {
			s.wanted[topic] = true
		}
	}
}

// Obtain creates those of the topics wanted that do not exist, and returns which can
// be consumed from now on. Those that are refused are wanted still.
func (s *Subscription) Obtain(ctx context.Context, admin *topics.Admin) (added []string, refused map[string]error, err error) {
	refused, err = admin.Create(ctx, slices.Sorted(maps.Keys(s.wanted))...)
	if err != nil {
		return nil, refused, err
	}
	return s.have(refused), refused, nil
}

// obtainTime bounds one look for topics.
const obtainTime = 5 * time.Second

// Extend has consume called with what is wanted and was not consumed before, as far as
// it can be had, and reports whether that is all. Whoever published the workspace has
// created its topics; to make sure costs one look, and a topic that is missing would be
// looked for by the client again and again.
func (s *Subscription) Extend(ctx context.Context, admin *topics.Admin, refusals *Refusals, consume func(topics ...string)) bool {
	if s.Complete() {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, obtainTime)
	defer cancel()
	added, refused, err := s.Obtain(ctx, admin)
	switch {
	case errors.Is(err, context.Canceled): // ours: the session ends
	case err != nil:
		refusals.log.Warn("looking for topics to consume failed, retrying", "error", err)
	default:
		refusals.Tell(refused)
	}
	if len(added) > 0 {
		refusals.log.Info("consuming more topics", "topics", added)
		consume(added...)
	}
	return s.Complete()
}

// Refusals is the log of topics that can't be had. It outlives subscriptions.
type Refusals struct {
	log  *slog.Logger
	told logging.Sampler[logging.Kind]
}

// NewRefusals returns one that has told nothing yet.
func NewRefusals(log *slog.Logger) *Refusals { return &Refusals{log: log} }

// maxNamed is how many topics a line of the log names.
const maxNamed = 10

// Tell logs which topics can't be had, at most once in [logging.Every]. What their
// destinations have waiting is delivered when they can.
func (r *Refusals) Tell(all map[string]error) {
	if len(all) == 0 {
		return
	}
	if _, ok := r.told.Admit(logging.Kind{}, time.Now()); !ok {
		return
	}
	names := slices.Sorted(maps.Keys(all))
	r.log.Error("topics cannot be consumed, retrying; all others are being consumed", "count", len(names), "topics", names[:min(len(names), maxNamed)], "error", all[names[0]])
}

// have notes as consumed what is wanted and not refused.
func (s *Subscription) have(refused map[string]error) []string {
	var added []string
	for _, topic := range slices.Sorted(maps.Keys(s.wanted)) {
		if refused[topic] == nil {
			delete(s.wanted, topic)
			s.consumed[topic] = true
			added = append(added, topic)
		}
	}
	return added
}

// Complete reports whether all that is wanted is consumed.
func (s *Subscription) Complete() bool { return len(s.wanted) == 0 }

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

// DeliverTopics returns the topics of a workspace's destinations with webhooks.
func DeliverTopics(ws *workspace.Snapshot) []string {
	ours := ws.DestinationsOf(workspace.TypeWebhooks)
	topics := make([]string, 0, len(ours))
	for _, dest := range ours {
		topics = append(topics, dest.Topic())
	}
	return topics
}
