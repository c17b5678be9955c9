package account

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/attempt"
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
		posted:    map[string]prometheus.Counter{attempt.OutcomeDelivered: s.attempts.WithLabelValues(label, attempt.OutcomeDelivered)},
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
		schemas.ReasonNetwork, schemas.ReasonTLS, schemas.ReasonSelfSigned, schemas.ReasonAddressRefused,
	}
}

// Follow takes up the destinations of a workspace. Those that share a label share
// a tally.
func (a *Account) Follow(ws *workspace.Snapshot) {
	a.following.Lock()
	defer a.following.Unlock()
	for _, dest := range ws.Destinations() {
		if _, known := a.known.Load(dest.ID); known {
			continue
		}
		label := a.destinations.Label(dest.ID)
		if a.tallies[label] == nil {
			a.tallies[label] = a.newTally(label)
		}
		a.known.Store(dest.ID, a.tallies[label])
	}
}

func (a *Account) of(destination string) *tally {
	if known, ok := a.known.Load(destination); ok {
		return known.(*tally) //nolint:forcetypeassert // nothing else is stored
	}
	return a.removed
}
