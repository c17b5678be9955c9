package router

import (
	"context"
	"fmt"
	"slices"
	"time"

	kafkatopics "github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
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
	// retryOut is how long a topic is left out that has leaders: to try it again holds
	// up a transaction of everybody's.
	retryOut = 5 * time.Minute
)

// topics knows the destinations whose topic can't be written to, and why.
type topics struct{ unavailable map[string]string }

func (t topics) missing(destination string) bool {
	_, missing := t.unavailable[destination]
	return missing
}

// table is the workspace as the router may use it: every topic that it leads to
// has been seen to exist. A produce to a topic that does not would abort the
// transaction of all the others, again and again. It does not change once it is used.
type table struct {
	workspace *workspace.Snapshot
	topics    topics
	fanOut    int // how many destinations listen to the source with the most of them
	checked   time.Time
}

func (p *table) current(s *workspace.Snapshot, now time.Time) bool {
	if p == nil || p.workspace != s {
		return false
	}
	return len(p.topics.unavailable) == 0 || now.Sub(p.checked) < recheck
}

// newTable sees to it that the topic of every destination exists. Whoever
// published the workspace has created them before; what is mended here is a
// topic that somebody deleted since. One that cannot be created or written to costs
// its own destination dead letters, and nobody else anything.
func (s *stage) newTable(ctx context.Context, ws *workspace.Snapshot) (*table, error) {
	p := &table{workspace: ws, fanOut: fanOut(ws), checked: time.Now()}
	existing, err := s.set.Topics.Leaderless(ctx, "") // exports are called what people like
	if err != nil {
		return nil, fmt.Errorf("check the destinations' topics: %w", err)
	}
	wanted, admin := make(map[string]bool, len(ws.Destinations())), s.set.Topics.For(ws.Exports())
	for _, d := range ws.Destinations() {
		topic := d.Topic()
		wanted[topic] = true
		if _, ok := existing[topic]; ok {
			continue
		}
		if err := create(ctx, admin, topic); err != nil {
			s.set.Logger.Error("destination's topic cannot be created, its events go to dead letters", "topic", topic, "error", err)
			p.lacks(d.ID, "the destination's topic does not exist and could not be created")
		}
	}
	for _, topic := range s.outages.end(existing, wanted, p.checked) {
		s.set.Logger.Info("writing to the destination's topic again", "topic", topic)
	}
	for topic, o := range s.outages {
		if d, ok := ws.ByTopic(topic); ok {
			p.lacks(d.ID, o.cause)
		}
	}
	s.metrics.unavailable.Set(float64(len(p.topics.unavailable)))
	return p, nil
}

func create(ctx context.Context, admin *kafkatopics.Admin, topic string) error {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	return admin.Ensure(ctx, topic)
}

func fanOut(s *workspace.Snapshot) int {
	most := 0
	for _, source := range s.Sources() {
		most = max(most, len(s.Listeners(source.ID)))
	}
	return most
}

func (p *table) lacks(destination, why string) {
	if p.topics.unavailable == nil {
		p.topics.unavailable = make(map[string]string)
	}
	p.topics.unavailable[destination] = why
}

// Spares implements [runner.Sparing]: of a destination that is written to.
func (s *stage) Spares(topic string) bool {
	p := s.table.Load()
	if p == nil {
		return false
	}
	d, wanted := p.workspace.ByTopic(topic)
	return wanted && !p.topics.missing(d.ID)
}

// LeaveOut implements [runner.Sparing]: events of its destination go to dead letters.
func (s *stage) LeaveOut(o runner.Outage) {
	if _, routed := schemas.RoutedTo(o.Topic); !routed && schemas.Reserved(o.Topic) {
		return // there is no other place for what belongs to dead-letters
	}
	left := outage{leaderless: true, cause: fmt.Sprintf("partitions %v of the destination's topic have no leader", o.Leaderless)}
	if len(o.Leaderless) == 0 {
		left = outage{until: time.Now().Add(retryOut), cause: "the destination's topic accepts no records: " + o.Err.Error()}
	}
	s.set.Logger.Error("destination's topic accepts no records, its events go to dead letters until it does", "topic", o.Topic, "cause", left.cause)
	s.outages[o.Topic] = left
	s.table.Store(nil)
}

// outage is a destination's topic that exists and takes no records. Its events go to
// dead letters meanwhile: one that waited would hold the transaction, and with it the
// events of all others.
type outage struct {
	cause      string
	leaderless bool      // it ends when every partition has a leader again
	until      time.Time // of others: when to try again
}

// outages are known by topic.
type outages map[string]outage

// end drops the outages that are over and returns their topics: of partitions that
// have leaders again, and those that shall be tried again. The rest of what is no
// topic of the workspace any more goes too, and is not returned.
func (o outages) end(existing map[string][]int32, wanted map[string]bool, now time.Time) (over []string) {
	for topic, known := range o {
		leaderless, exists := existing[topic]
		switch {
		case !wanted[topic], !exists:
		case known.leaderless && len(leaderless) > 0, !known.leaderless && now.Before(known.until):
			continue
		default:
			over = append(over, topic)
		}
		delete(o, topic)
	}
	slices.Sort(over)
	return over
}
