package router

import (
	"context"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// recheck is how often a destination's topic that can't be written to is looked
	// at again.
	recheck = 30 * time.Second
	// createTimeout bounds the wait for a topic: events that have been polled wait
	// with it.
	createTimeout = 5 * time.Second
)

// topics knows the destinations whose topic can't be written to, and why.
type topics struct{ unavailable map[string]string }

func (t topics) missing(destination string) bool {
	_, missing := t.unavailable[destination]
	return missing
}

// plan is the workspace as the router may use it: every topic that it leads to
// has been seen to exist. A produce to a topic that does not would abort the
// transaction of all the others, again and again.
type plan struct {
	workspace *workspace.Snapshot
	topics    topics
	fanOut    int // how many destinations listen to the source with the most of them
	checked   time.Time
}

func (p *plan) current(s *workspace.Snapshot, now time.Time) bool {
	if p == nil || p.workspace != s {
		return false
	}
	return len(p.topics.unavailable) == 0 || now.Sub(p.checked) < recheck
}

// newPlan sees to it that the topic of every destination exists. Whoever
// published the workspace has created them before; what is mended here is a
// topic that somebody deleted since. One that cannot be created or written to costs
// its own destination dead letters, and nobody else anything.
func (r *Router) newPlan(ctx context.Context, s *workspace.Snapshot) (*plan, error) {
	p := &plan{workspace: s, fanOut: fanOut(s), checked: time.Now()}
	existing, err := r.set.Topics.Leaderless(ctx, schemas.DeliverTopic(""))
	if err != nil {
		return nil, fmt.Errorf("check the destinations' topics: %w", err)
	}
	wanted := make(map[string]bool, len(s.Destinations()))
	for _, d := range s.Destinations() {
		topic := schemas.DeliverTopic(d.ID)
		wanted[topic] = true
		if _, ok := existing[topic]; ok {
			continue
		}
		if err := r.create(ctx, topic); err != nil {
			r.log.Error("destination's topic cannot be created, its events go to dead letters", "topic", topic, "error", err)
			p.lacks(d.ID, "the destination's topic does not exist and could not be created")
		}
	}
	for _, topic := range r.outages.end(existing, wanted, p.checked) {
		r.log.Info("destination's topic is used again", "topic", topic)
	}
	for topic, o := range r.outages {
		id, _ := schemas.DestinationOf(topic)
		p.lacks(id, o.cause)
	}
	r.metrics.follow(s)
	r.metrics.unavailable.Set(float64(len(p.topics.unavailable)))
	return p, nil
}

func (r *Router) create(ctx context.Context, topic string) error {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	return r.set.Topics.Ensure(ctx, topic)
}

func fanOut(s *workspace.Snapshot) int {
	most := 0
	for _, source := range s.Sources() {
		most = max(most, len(s.Listeners(source.ID)))
	}
	return most
}

func (p *plan) lacks(destination, why string) {
	if p.topics.unavailable == nil {
		p.topics.unavailable = make(map[string]string)
	}
	p.topics.unavailable[destination] = why
}
