package router

import (
	"slices"

	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/router/internal/integrations"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// result is what became of one event at one destination; the values of the
// label result of anabranch_router_events_total.
type result string

const (
	routed      result = "routed"
	filtered    result = "filtered"
	dead        result = "dead"
	unconnected result = "unconnected"
	duplicate   result = "duplicate"
)

// decision is one result. The destination is empty when nothing listens to the
// event's source, when it is a copy, and when the record is dead before any destination is known.
type decision struct {
	destination string
	result      result
	reason      schemas.Reason
	detail      string
	why         string // of what is filtered: the key of the integrations map, or another reason
	topic       string // of what is routed
	export      bool   // of what is routed: to be on the topic is all that shall become of it
}

// filter is the rule, with what it is reused for from event to event.
type filter struct{ integrations integrations.Filter }

// decide appends to into what shall become of an event with the headers h:
// one decision per destination that listens to its source, or a single
// decision where there is none. It is the whole of the routing rule; its result
// depends on nothing but its arguments.
func (f *filter) decide(into []decision, h *schemas.Headers, s *workspace.Snapshot, t topics) []decision {
	if h.Source == "" {
		return append(into, decision{result: dead, reason: schemas.ReasonRecordInvalid, detail: "header source is missing"})
	}
	listeners := s.Listeners(h.Source)
	if len(listeners) == 0 {
		// Ingest takes nothing of a source that is not in the workspace, so it was, or
		// will be in ours in a moment: who listens to it is not for us to say.
		if _, known := s.Source(h.Source); !known {
			return append(into, decision{result: dead, reason: schemas.ReasonSourceUnknown, detail: "source " + h.Source + " is not in the workspace"})
		}
		return append(into, decision{result: unconnected})
	}
	var name, by string
	var on bool
	var err error
	for _, d := range listeners {
		// Destinations of one type share a name: the map is read once for all of
		// them.
		if n := d.IntegrationName(); n != name {
			name = n
			on, by, err = f.integrations.Enabled(h.Integrations, name)
		}
		switch {
		case err != nil:
			// The map is one and the same for every destination: the record is dead
			// once, not once per destination.
			return append(into, decision{result: dead, reason: schemas.ReasonRecordInvalid, detail: err.Error()})
		case !on:
			into = append(into, decision{destination: d.ID, result: filtered, why: by})
		case !wanted(h, d.ID):
			into = append(into, decision{destination: d.ID, result: filtered, why: journal.WhyOnly})
		case !h.Happened.IsZero() && !d.Receives(h.Received.Sub(h.Happened)):
			into = append(into, decision{destination: d.ID, result: filtered, why: journal.WhyHistorical})
		case t.missing(d.ID):
			into = append(into, decision{destination: d.ID, result: dead, reason: schemas.ReasonTopicUnavailable, detail: t.unavailable[d.ID]})
		default:
			into = append(into, decision{destination: d.ID, result: routed, topic: d.Topic(), export: d.Is(workspace.TypeTopic)})
		}
	}
	return into
}

// wanted reports whether a destination gets what is told of audiences and computed traits,
// which a definition may narrow, or an imported call, which the import may: that one says
// so by its version. Any other call has nothing to say about it.
func wanted(h *schemas.Headers, destination string) bool {
	if regulation.IsOrder(h) {
		return false // it is for personas
	}
	narrows := h.Source == workspace.SourcePersonas || h.Version >= narrowedImport
	return h.Only == nil || !narrows || slices.Contains(h.Only, destination)
}

// narrowedImport is the version since which Only narrows imported calls.
const narrowedImport = 2
