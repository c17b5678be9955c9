package router

import (
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
)

// Judge applies the router's rule to events that are not routed: it is how a replay knows
// what today's workspace makes of them. It belongs to one goroutine.
type Judge struct {
	filter    filter
	decisions []decision
}

// Judge sets the result of an event with the headers, and a decision for each destination
// that listens to its source, as the journal has them. Topics that can't be written to make
// no difference.
func (j *Judge) Judge(into *format.Call, h *schemas.Headers, ws *workspace.Snapshot) {
	j.decisions = j.filter.decide(j.decisions[:0], h, ws, topics{})
	into.Source = h.Source
	decided(into, j.decisions)
}
