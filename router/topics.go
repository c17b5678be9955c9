package router

import (
	"context"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// recheck is how often a destination's topic that could not be created is
// tried again.
const recheck = 30 * time.Second

// topics knows the destinations whose topic does not exist.
type topics struct{ absent map[string]bool }

func (t topics) missing(destination string) bool { return t.absent[destination] }

// plan is the workspace as the router may use it: every topic that it leads to
// has been seen to exist. A produce to a topic that does not would abort the
// transaction of all the others, again and again.
type plan struct {
	workspace *workspace.Snapshot
	topics    topics
	checked   time.Time
}

func (p *plan) current(s *workspace.Snapshot, now time.Time) bool {
	if p == nil || p.workspace != s {
		return false
	}
	return len(p.topics.absent) == 0 || now.Sub(p.checked) < recheck
}

// newPlan sees to it that the topic of every destination exists. Whoever
// published the workspace has created them before; what is mended here is a
// topic that somebody deleted since. One that cannot be created costs its own
// destination dead letters, and nobody else anything.
func (r *Router) newPlan(ctx context.Context, s *workspace.Snapshot) (*plan, error) {
	p := &plan{workspace: s, checked: time.Now()}
	existing, err := r.set.Topics.List(ctx, schemas.DeliverTopic(""))
	if err != nil {
		return nil, fmt.Errorf("check the destinations' topics: %w", err)
	}
	have := make(map[string]bool, len(existing))
	for _, name := range existing {
		have[name] = true
	}
	for _, d := range s.Destinations() {
		topic := schemas.DeliverTopic(d.ID)
		if have[topic] {
			continue
		}
		if err := r.set.Topics.Ensure(ctx, topic); err != nil {
			r.log.Error("destination's topic cannot be created, its events go to dead letters", "topic", topic, "error", err)
			p.lacks(d.ID)
		}
	}
	r.metrics.follow(s)
	return p, nil
}

func (p *plan) lacks(destination string) {
	if p.topics.absent == nil {
		p.topics.absent = make(map[string]bool)
	}
	p.topics.absent[destination] = true
}
