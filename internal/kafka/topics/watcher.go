package topics

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/logging"
)

const (
	watchEvery   = time.Minute
	watchTimeout = 20 * time.Second

	// describeEvery is in looks. What partitions are added does harm at once; what is
	// kept for too short does it later, and to ask for that costs the brokers more.
	describeEvery = 10
)

// Watcher is the service that compares the topics with the settings, at the start and
// then every minute (their own settings every ten), and says in the log what
// differs, each thing once. It alters nothing.
//
// Brokers don't tell how many partitions a topic was created with. What gives an
// addition away is that the settings name fewer, or that it happens while a process
// looks on; two that happen to agree, with no process running, go unnoticed.
type Watcher struct {
	topics  *Admin
	log     *slog.Logger
	metrics watcherMetrics

	said  logging.Sampler[string] // mismatches in the log
	first map[string]int          // partitions of each topic when it was first seen
	added map[string]int          // of those that have more now

	looks   int
	configs map[string]map[string]string // of each topic, when they were last looked at
}

type watcherMetrics struct {
	mismatches *prometheus.GaugeVec
	added      prometheus.Gauge
}

// NewWatcher returns a watcher of the topics that these can see, to be run once. The
// registerer must not know another one.
func NewWatcher(topics *Admin, registerer prometheus.Registerer, log *slog.Logger) *Watcher {
	w := &Watcher{
		topics: topics, log: log,
		said: logging.Sampler[string]{Every: logging.Once}, first: make(map[string]int), added: make(map[string]int),
		metrics: watcherMetrics{
			mismatches: prometheus.NewGaugeVec(prometheus.GaugeOpts{
				Name: "anabranch_topic_mismatches",
				Help: "Settings of existing topics that differ from ours; grave: events may be lost or come out of order.",
			}, []string{"grave"}),
			added: prometheus.NewGauge(prometheus.GaugeOpts{
				Name: "anabranch_topic_partitions_added",
				Help: "Partitions added to topics since this process started watching them; each addition moves keys.",
			}),
		},
	}
	registerer.MustRegister(w.metrics.mismatches, w.metrics.added)
	w.count(nil)
	return w
}

// Name is the service's name in logs.
func (w *Watcher) Name() string { return "topics" }

// Run looks until ctx ends and returns nil.
func (w *Watcher) Run(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		w.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (w *Watcher) look(ctx context.Context) {
	timed, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	states, err := w.topics.shapes(timed)
	if err == nil {
		err = w.describe(timed, states)
	}
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, ErrUndescribed):
		w.once(ctx, slog.LevelInfo, "topics are only partly compared with the settings", err.Error(), "error", err)
	case err != nil:
		// Brokers that are away are for others to complain about.
		w.log.Debug("topics can't be compared with the settings, retrying", "error", err)
		return
	}
	found := w.topics.config.CompareAll(states)
	for _, m := range found {
		w.tell(ctx, m)
	}
	w.count(found)
	w.follow(states)
}

// describe adds the topics' settings, those of an earlier look as a rule.
func (w *Watcher) describe(ctx context.Context, states map[string]policy.State) error {
	if w.looks%describeEvery != 0 {
		for name, state := range states {
			state.Configs = w.configs[name]
			states[name] = state
		}
		w.looks++
		return nil
	}
	err := w.topics.describe(ctx, states)
	if err != nil && !errors.Is(err, ErrUndescribed) {
		return err // and the next look tries again
	}
	w.looks++
	w.configs = make(map[string]map[string]string, len(states))
	for name, state := range states {
		w.configs[name] = state.Configs
	}
	return err
}

func (w *Watcher) tell(ctx context.Context, m policy.Mismatch) {
	level := slog.LevelInfo
	if m.Grave {
		level = slog.LevelWarn
	}
	w.once(ctx, level, "topic differs from the settings, and is left as it is", m.String(),
		"topic", m.Topic, "setting", m.Setting, "have", m.Have, "want", m.Want, "meaning", m.Meaning, "advice", m.Advice)
}

// once logs what was not logged under the same key.
func (w *Watcher) once(ctx context.Context, level slog.Level, message, key string, attrs ...any) {
	if _, ok := w.said.Admit(key, time.Now()); ok {
		//nolint:sloglint // the callers' messages are constant
		w.log.Log(ctx, level, message, attrs...)
	}
}

func (w *Watcher) count(found []policy.Mismatch) {
	grave := 0
	for _, m := range found {
		if m.Grave {
			grave++
		}
	}
	w.metrics.mismatches.WithLabelValues("true").Set(float64(grave))
	w.metrics.mismatches.WithLabelValues("false").Set(float64(len(found) - grave))
}

// follow notes partitions that were added. A topic that was made anew has as many
// as it has, and may have fewer.
func (w *Watcher) follow(states map[string]policy.State) {
	total := 0
	for topic, state := range states {
		first, known := w.first[topic]
		if !known || state.Partitions < first {
			first = state.Partitions
			w.first[topic] = first
			delete(w.added, topic)
		}
		added := state.Partitions - first
		total += added
		if added == w.added[topic] {
			continue
		}
		w.added[topic] = added
		w.log.Error("partitions were added to a topic in use: keys have moved, and until all that was written before is delivered, events of one user may come out of order",
			"topic", topic, "before", first, "now", state.Partitions, "advice", "never add partitions to a topic of Anabranch; docs/brokers.md says how to get more")
	}
	w.metrics.added.Set(float64(total))
}
