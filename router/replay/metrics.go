package replay

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/anabranch/anabranch/internal/telemetry"
)

// metrics are those of the runs of this process. Events are counted when their transaction
// has committed.
type metrics struct {
	sent, left    *prometheus.CounterVec
	runs, waiting prometheus.Gauge
	destinations  *telemetry.Destinations
}

func newMetrics(reg prometheus.Registerer, destinations *telemetry.Destinations) *metrics {
	with := promauto.With(reg)
	return &metrics{
		destinations: destinations,
		sent: with.NewCounterVec(prometheus.CounterOpts{
			Name: "anabranch_router_replayed_events_total",
			Help: "Events that replays wrote to the topic replay.<destination>, by destination.",
		}, []string{"destination"}),
		left: with.NewCounterVec(prometheus.CounterOpts{
			Name: "anabranch_router_replay_left_out_total",
			Help: "Events in the range of a replay that were not sent to a destination, by destination and reason; docs/replay.md has the reasons.",
		}, []string{"destination", "reason"}),
		runs: with.NewGauge(prometheus.GaugeOpts{
			Name: "anabranch_router_replay_runs",
			Help: "Replays that this process is carrying out.",
		}),
		waiting: with.NewGauge(prometheus.GaugeOpts{
			Name: "anabranch_router_replay_waiting",
			Help: "Destinations that a replay of this process waits for: what it has sent them is not delivered yet, or their topic takes no records.",
		}),
	}
}

// count counts what a transaction has changed of a part.
func (m *metrics) count(destination string, before, now *Part) {
	label := m.destinations.Label(destination)
	m.sent.WithLabelValues(label).Add(float64(now.Sent - before.Sent))
	for reason, n := range now.Left {
		if more := n - before.Left[reason]; more > 0 {
			m.left.WithLabelValues(label, string(reason)).Add(float64(more))
		}
	}
}
