package router

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/schemas"
)

// outage is a destination's topic that exists and takes no records. Its events go to
// dead letters meanwhile: one that waited would hold the transaction, and with it the
// events of all others.
type outage struct {
	cause      string
	leaderless bool      // it ends when every partition has a leader again
	until      time.Time // of others: when to try again
}

// orphan is the outage of a topic with partitions that have no leader.
func orphan(partitions []int32) outage {
	return outage{cause: fmt.Sprintf("partitions %v of the destination's topic have no leader", partitions), leaderless: true}
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

const (
	// strikesOut is how many transactions in a row a topic ends until it is left out.
	strikesOut = 3
	// retryOut is how long a topic is left out that has leaders: to try it again holds
	// up a transaction of everybody's.
	retryOut = 5 * time.Minute
)

// strikes counts, by topic, the transactions that ended with it since the last that
// committed.
type strikes map[string]strike

type strike struct {
	n     int
	first time.Time
}

// out notes that topic ended a transaction and reports whether it has done so
// often enough, and for longer than over: brokers that fail are replaced within that
// time, and whatever they led comes back.
func (s strikes) out(topic string, now time.Time, over time.Duration) bool {
	k := s[topic]
	if k.n == 0 {
		k.first = now
	}
	k.n++
	s[topic] = k
	return k.n >= strikesOut && now.Sub(k.first) >= over
}

// unanswered returns the topics of which nothing was acknowledged while others'
// records were. When nothing at all was, no topic is to blame.
func unanswered(topics map[string]progress) []string {
	var names []string
	answered := false
	for name, p := range topics {
		answered = answered || p.acked > 0
		if p.open > 0 && p.acked == 0 {
			names = append(names, name)
		}
	}
	if !answered {
		return nil
	}
	slices.Sort(names)
	return names
}

var (
	errLeaderless = errors.New("partitions have no leader")
	errUnanswered = errors.New("brokers did not acknowledge all records in time")
)

// watch looks at a transaction that takes long, and gives it up before the brokers
// do. The result ends that.
func (r *Router) watch(ctx context.Context, b *batch) (done func()) {
	p := r.plan
	half := time.AfterFunc(r.cfg.TransactionTimeout/2, func() { r.inspect(ctx, b, p) })
	late := time.AfterFunc(r.cfg.TransactionTimeout*9/10, func() { b.writes.giveUp(errUnanswered) })
	return func() {
		half.Stop()
		late.Stop()
	}
}

// inspect looks whether partitions have no leader, and gives the transaction up when
// they are destinations': it may hold records for them, or wait for the end of one
// that did.
func (r *Router) inspect(ctx context.Context, b *batch, p *plan) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.TransactionTimeout/4)
	defer cancel()
	existing, err := r.set.Topics.Leaderless(ctx, "")
	if err != nil {
		return // the brokers are away: no topic's fault
	}
	if nums := existing[schemas.TopicDeadLetters]; len(nums) > 0 {
		r.log.Error("dead-letters has partitions without a leader, events that belong there hold up all others", "partitions", nums)
	}
	found := make(map[string][]int32)
	for _, d := range p.workspace.Destinations() {
		if nums := existing[schemas.DeliverTopic(d.ID)]; len(nums) > 0 && !p.topics.missing(d.ID) {
			found[schemas.DeliverTopic(d.ID)] = nums
		}
	}
	if len(found) > 0 {
		b.writes.orphaned(found)
	}
}

// blame notes which topics kept a transaction from ending, and returns the failure
// that it ended with; nil: no write had failed.
func (r *Router) blame(b *batch) *failure {
	s := b.writes.standing()
	switch {
	case errors.Is(s.ended, errLeaderless):
		topics := slices.Sorted(maps.Keys(s.leaderless))
		for _, topic := range topics {
			r.leaveOut(topic, orphan(s.leaderless[topic]))
		}
		return &failure{topic: topics[0], err: s.ended}
	case errors.Is(s.ended, errUnanswered):
		for _, topic := range unanswered(s.topics) {
			r.strike(topic, s.ended)
		}
		return &failure{topic: slow(s.topics), err: s.ended}
	case s.failed != nil && others(s.topics, s.failed.topic) && refuses(s.failed.err):
		r.strike(s.failed.topic, s.failed.err)
	}
	return s.failed
}

// slow names a topic whose records are not all acknowledged.
func slow(topics map[string]progress) string {
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		if topics[name].open > 0 {
			return name
		}
	}
	return ""
}

// others reports whether brokers took records of another topic than this one.
func others(topics map[string]progress, topic string) bool {
	for name, p := range topics {
		if name != topic && p.acked > 0 {
			return true
		}
	}
	return false
}

// refuses reports whether a broker said no for a reason that only a topic has.
func refuses(err error) bool {
	var known *kerr.Error
	return errors.As(err, &known) && !fenced(err) && !errors.Is(err, kerr.UnknownTopicID) && !errors.Is(err, kerr.UnknownTopicOrPartition)
}

func (r *Router) strike(topic string, cause error) {
	if _, deliver := schemas.DestinationOf(topic); !deliver {
		return // there is no other place for what belongs to dead-letters
	}
	now := time.Now()
	if r.strikes.out(topic, now, r.cfg.TransactionTimeout) {
		r.leaveOut(topic, outage{cause: "the destination's topic takes no records: " + cause.Error(), until: now.Add(retryOut)})
	}
}

// leaveOut has the events of a topic's destination go to dead letters.
func (r *Router) leaveOut(topic string, o outage) {
	r.log.Error("destination's topic takes no records, its events go to dead letters until it does", "topic", topic, "cause", o.cause)
	r.outages[topic] = o
	delete(r.strikes, topic)
	r.plan = nil
}
