package writes

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/internal/kafka"
)

var (
	errLeaderless = errors.New("partitions have no leader")
	errUnanswered = errors.New("brokers did not acknowledge all records in time")
)

// Watch looks at a transaction that takes long, whose brokers wait for timeout, and gives
// it up before they do. The result ends that. Spares are topics that can be left out.
func (w *Writes) Watch(ctx context.Context, topics *kafka.Topics, timeout time.Duration, spares func(topic string) bool) (done func()) {
	half := time.AfterFunc(timeout/2, func() {
		asking, cancel := context.WithTimeout(ctx, timeout/4)
		defer cancel()
		// Brokers that do not answer are away, which is no topic's fault.
		if existing, err := topics.Leaderless(asking, ""); err == nil {
			w.inspect(existing, spares)
		}
	})
	late := time.AfterFunc(timeout*9/10, func() { w.giveUp(errUnanswered, nil) })
	return func() {
		half.Stop()
		late.Stop()
	}
}

// inspect gives the writes up where partitions without a leader are of a topic that can be
// left out: they may hold records for it, or wait for the end of a transaction that did.
func (w *Writes) inspect(topics map[string][]int32, spares func(topic string) bool) {
	waiting, found := w.waiting(), make(map[string][]int32)
	for topic, leaderless := range topics {
		switch {
		case len(leaderless) == 0:
		case spares(topic):
			found[topic] = leaderless
		case waiting[topic]:
			w.sizes.log.Error("topic has partitions without a leader, events for them hold up all others", "topic", topic, "partitions", leaderless)
		}
	}
	if len(found) > 0 {
		w.giveUp(errLeaderless, found)
	}
}

// strikesOut is how many transactions in a row a topic ends until it is left out.
const strikesOut = 3

// Strikes counts, by topic, the transactions that ended with it since the last that
// committed. It belongs to the loop: one goroutine uses it.
type Strikes map[string]strike

type strike struct {
	n     int
	first time.Time
}

// Outage is a topic that exists and takes no records.
type Outage struct {
	Topic string
	// Leaderless are its partitions without a leader: none can be written to before they
	// have one.
	Leaderless []int32
	// Err is what brokers say where they all have one.
	Err error
}

// Blame returns the failure that a transaction ended with (nil: no write had failed),
// and the topics that are to be left out for it: those without leaders, and those that
// ended several transactions in a row, for longer than over.
func (s Strikes) Blame(w *Writes, now time.Time, over time.Duration) (*Failure, []Outage) {
	at := w.standing()
	switch {
	case errors.Is(at.ended, errLeaderless):
		outages := Leaderless(at.leaderless)
		return &Failure{outages[0].Topic, at.ended}, outages
	case errors.Is(at.ended, errUnanswered):
		return &Failure{slow(at.topics), at.ended}, s.strike(unanswered(at.topics), at.ended, now, over)
	case at.failed != nil && others(at.topics, at.failed.Topic) && refuses(at.failed.Err):
		return at.failed, s.strike([]string{at.failed.Topic}, at.failed.Err, now, over)
	}
	return at.failed, nil
}

// Leaderless are the outages of topics with partitions that have no leader, in order.
func Leaderless(topics map[string][]int32) []Outage {
	outages := make([]Outage, 0, len(topics))
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		outages = append(outages, Outage{Topic: topic, Leaderless: topics[topic]})
	}
	return outages
}

func (s Strikes) strike(topics []string, cause error, now time.Time, over time.Duration) []Outage {
	var outages []Outage
	for _, topic := range topics {
		if s.out(topic, now, over) {
			delete(s, topic)
			outages = append(outages, Outage{Topic: topic, Err: cause})
		}
	}
	return outages
}

// out notes that topic ended a transaction and reports whether it has done so
// often enough, and for longer than over: brokers that fail are replaced within that
// time, and whatever they led comes back.
func (s Strikes) out(topic string, now time.Time, over time.Duration) bool {
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
	return errors.As(err, &known) && !kafka.Fenced(err) && !errors.Is(err, kerr.UnknownTopicID) && !errors.Is(err, kerr.UnknownTopicOrPartition)
}
