package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// removed is the label of destinations that the workspace has never named in the
// lifetime of this process; no id looks like it. Ids come from record headers
// too, and a label must not be whatever those say.
const removed = "(removed)"

// tally is the series of one label value, looked up once: to find a series by its
// labels costs more than to count.
type tally struct {
	label                    string
	delivered, retried, dead prometheus.Counter
	posted                   map[string]prometheus.Counter // by outcome
	leftOut                  prometheus.Counter
	down                     prometheus.Gauge
}

// newTally makes all series of a label, so that a rate over them sees the first
// event too.
func (s *series) newTally(label string) *tally {
	t := &tally{
		label:     label,
		delivered: s.deliveries.WithLabelValues(label, resultDelivered),
		retried:   s.deliveries.WithLabelValues(label, resultRetried),
		dead:      s.deliveries.WithLabelValues(label, resultDead),
		posted:    map[string]prometheus.Counter{outcome.LabelDelivered: s.attempts.WithLabelValues(label, outcome.LabelDelivered)},
		leftOut:   s.leftOut.WithLabelValues(label),
		down:      s.down.WithLabelValues(label),
	}
	for _, reason := range attemptReasons() {
		t.posted[string(reason)] = s.attempts.WithLabelValues(label, string(reason))
	}
	return t
}

// attemptReasons are those that a request to an endpoint fails for.
func attemptReasons() []schemas.Reason {
	return []schemas.Reason{
		schemas.ReasonStatus3xx, schemas.ReasonStatus4xx, schemas.ReasonStatus5xx, schemas.ReasonTimeout,
		schemas.ReasonNetwork, schemas.ReasonTLS, schemas.ReasonSelfSigned, schemas.ReasonAddressRefused, schemas.ReasonNotHTTPS,
	}
}

// Follow takes up the destinations of a workspace. Those that share a label share
// a tally.
func (m *Metrics) Follow(ws *workspace.Snapshot) {
	m.following.Lock()
	defer m.following.Unlock()
	m.paused = make(map[string]int)
	for _, id := range ws.PausedIDs() {
		m.paused[m.destinations.Label(id)]++
	}
	for _, dest := range ws.DestinationsOf(workspace.TypeWebhooks) {
		if _, known := m.known.Load(dest.ID); known {
			continue
		}
		label := m.destinations.Label(dest.ID)
		if m.tallies[label] == nil {
			m.tallies[label] = m.newTally(label)
		}
		m.known.Store(dest.ID, m.tallies[label])
	}
}

func (m *Metrics) of(destination string) *tally {
	if known, ok := m.known.Load(destination); ok {
		return known.(*tally) //nolint:forcetypeassert // nothing else is stored
	}
	return m.removed
}
