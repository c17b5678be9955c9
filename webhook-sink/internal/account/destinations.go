package account

import (
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/attempt"
)

// removed is the label of destinations that the workspace has never named in the
// lifetime of this process; no id looks like it. Ids come from record headers
// too, and a label must not be whatever those say.
const removed = "(removed)"

// Follow creates the series of every destination of a workspace, so that a rate
// over them sees the first event too.
func (a *Account) Follow(ws *workspace.Snapshot) {
	for _, dest := range ws.Destinations() {
		if _, known := a.known.LoadOrStore(dest.ID, true); known {
			continue
		}
		for _, r := range []string{resultDelivered, resultRetried, resultDead} {
			a.deliveries.WithLabelValues(dest.ID, r)
		}
		a.attempts.WithLabelValues(dest.ID, attempt.OutcomeDelivered)
		for _, reason := range attemptReasons() {
			a.attempts.WithLabelValues(dest.ID, string(reason))
		}
		a.leftOut.WithLabelValues(dest.ID)
		a.down.WithLabelValues(dest.ID)
	}
}

// attemptReasons are those that a request to an endpoint fails for.
func attemptReasons() []schemas.Reason {
	return []schemas.Reason{
		schemas.ReasonStatus3xx, schemas.ReasonStatus4xx, schemas.ReasonStatus5xx, schemas.ReasonTimeout,
		schemas.ReasonNetwork, schemas.ReasonTLS, schemas.ReasonSelfSigned, schemas.ReasonAddressRefused,
	}
}

func (a *Account) label(destination string) string {
	if _, known := a.known.Load(destination); known {
		return destination
	}
	return removed
}
