package attempt

import (
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/webhook-sink/endpoints"
	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
)

// Endpoints tells how the endpoints of a destination fare, those without an attempt among them.
func (a *Attempter) Endpoints(d *workspace.Destination) []endpoints.Endpoint {
	known, _ := a.recipients.byID.Load(d.ID)
	r, _ := known.(*recipient)
	now := time.Now()
	all := make([]endpoints.Endpoint, len(d.Endpoints))
	for i, configured := range d.Endpoints {
		all[i] = endpoints.Endpoint{Position: i + 1, URL: configured.SafeURL(), State: endpoints.Untried}
		if e := r.find(configured.Fingerprint()); e != nil {
			e.tell(&all[i], now)
		}
	}
	return all
}

// tell says what is known of an endpoint.
func (e *endpoint) tell(to *endpoints.Endpoint, now time.Time) {
	if to.Figures = e.record.Figures(now); to.Of == 0 {
		return
	}
	state, next := e.breaker.Look()
	switch state {
	case breaker.Closed:
		to.State = endpoints.Up
		return
	case breaker.Open:
		to.State, to.Next = endpoints.Down, next.UTC()
	case breaker.Probing:
		to.State = endpoints.Probing
	}
	if last := e.failing.Load(); last != nil {
		to.Why, to.Detail = string(last.Reason), last.Detail
	}
}
