package kafka

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	guardEvery   = time.Minute
	guardTimeout = 20 * time.Second

	// describeEvery is in looks. What partitions are added does harm at once; what is
	// kept for too short does it later, and to ask for that costs the brokers more.
	describeEvery = 10
)

// Guard is the service that compares the topics with the settings, at the start and
// then every minute (their own settings every ten), and says in the log what
// differs, each thing once. It alters nothing.
//
// Brokers don't tell how many partitions a topic was created with. What gives an
// addition away is that the settings name fewer, or that it happens while a process
// looks on; two that happen to agree, with no process running, go unnoticed.
type Guard struct {
	topics  *Topics
	log     *slog.Logger
	metrics guardMetrics

	said  map[string]bool // mismatches in the log
	first map[string]int  // partitions of each topic when it was first seen
	added map[string]int  // of those that have more now

	looks   int
	configs map[string]map[string]string // of each topic, when they were last looked at
}

type guardMetrics struct {
	mismatches *prometheus.GaugeVec
	added      prometheus.Gauge
}

// NewGuard returns a guard of the topics that these can see, to be run once. The
// registerer must not know another one.
func NewGuard(topics *Topics, registerer prometheus.Registerer, log *slog.Logger) *Guard {
	g := &Guard{
		topics: topics, log: log,
		said: make(map[string]bool), first: make(map[string]int), added: make(map[string]int),
		metrics: guardMetrics{
			mismatches: prometheus.NewGaugeVec(prometheus.GaugeOpts{
				Name: "anabranch_topic_mismatches",
				Help: "Settings of existing topics that differ from ours; grave: events may be lost or come out of order.",
			}, []string{"grave"}),
			added: prometheus.NewGauge(prometheus.GaugeOpts{
				Name: "anabranch_topic_partitions_added",
				Help: "Partitions that were added to topics since this process looks at them; each moves keys.",
			}),
		},
	}
	registerer.MustRegister(g.metrics.mismatches, g.metrics.added)
	g.count(nil)
	return g
}

// Name is the service's name in logs.
func (g *Guard) Name() string { return "topics" }

// Run looks until ctx ends and returns nil.
func (g *Guard) Run(ctx context.Context) error {
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	for {
		g.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (g *Guard) look(ctx context.Context) {
	timed, cancel := context.WithTimeout(ctx, guardTimeout)
	defer cancel()
	states, err := g.topics.shapes(timed)
	if err == nil {
		err = g.describe(timed, states)
	}
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, ErrUndescribed):
		g.once(ctx, slog.LevelInfo, "topics are compared with the settings in part", err.Error(), "error", err)
	case err != nil:
		// Brokers that are away are for others to complain about.
		g.log.Debug("topics can't be compared with the settings, retrying", "error", err)
		return
	}
	found := g.topics.config.compareAll(states)
	for _, m := range found {
		g.tell(ctx, m)
	}
	g.count(found)
	g.follow(states)
}

// describe adds the topics' settings, those of an earlier look as a rule.
func (g *Guard) describe(ctx context.Context, states map[string]TopicState) error {
	if g.looks%describeEvery != 0 {
		for name, state := range states {
			state.Configs = g.configs[name]
			states[name] = state
		}
		g.looks++
		return nil
	}
	err := g.topics.describe(ctx, states)
	if err != nil && !errors.Is(err, ErrUndescribed) {
		return err // and the next look tries again
	}
	g.looks++
	g.configs = make(map[string]map[string]string, len(states))
	for name, state := range states {
		g.configs[name] = state.Configs
	}
	return err
}

func (g *Guard) tell(ctx context.Context, m Mismatch) {
	level := slog.LevelInfo
	if m.Grave {
		level = slog.LevelWarn
	}
	g.once(ctx, level, "topic differs from the settings, and is left as it is", m.String(),
		"topic", m.Topic, "setting", m.Setting, "have", m.Have, "want", m.Want, "meaning", m.Meaning, "advice", m.Advice)
}

// once logs what was not logged under the same key.
func (g *Guard) once(ctx context.Context, level slog.Level, message, key string, attrs ...any) {
	if g.said[key] {
		return
	}
	g.said[key] = true
	//nolint:sloglint // the callers' messages are constant
	g.log.Log(ctx, level, message, attrs...)
}

func (g *Guard) count(found []Mismatch) {
	grave := 0
	for _, m := range found {
		if m.Grave {
			grave++
		}
	}
	g.metrics.mismatches.WithLabelValues("true").Set(float64(grave))
	g.metrics.mismatches.WithLabelValues("false").Set(float64(len(found) - grave))
}

// follow notes partitions that were added. A topic that was made anew has as many
// as it has, and may have fewer.
func (g *Guard) follow(states map[string]TopicState) {
	total := 0
	for topic, state := range states {
		first, known := g.first[topic]
		if !known || state.Partitions < first {
			first = state.Partitions
			g.first[topic] = first
			delete(g.added, topic)
		}
		added := state.Partitions - first
		total += added
		if added == g.added[topic] {
			continue
		}
		g.added[topic] = added
		g.log.Error("partitions were added to a topic in use: keys have moved, and until all that was written before is delivered, events of one user may come out of order",
			"topic", topic, "before", first, "now", state.Partitions, "advice", "never add partitions to a topic of Anabranch; docs/brokers.md says how to get more")
	}
	g.metrics.added.Set(float64(total))
}
