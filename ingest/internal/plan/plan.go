package plan

import (
	"maps"
	"slices"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Plan is a compiled tracking plan. It may be used by many goroutines.
type Plan struct {
	action workspace.PlanAction

	tracks      bool               // track calls are judged
	events      map[string]*object // by name, see stableName
	otherEvents bool               // events that are not among them are no violation

	identify, group, page, screen *object // nil: not judged
}

// object is what the properties or traits of a call may hold.
type object struct {
	prefix     string              // of paths
	properties map[string]property // by name, see stableName
	required   []string            // the names of those that must be there, ascending
	closed     bool
}

type property struct {
	kind  workspace.PropertyType
	place int // among the required ones, from 1; 0: not required
}

const (
	inProperties = "properties."
	inTraits     = "traits."
)

// Compile makes a Plan of p.
func Compile(p *workspace.TrackingPlan) *Plan {
	compiled := &Plan{
		action:      p.Action,
		tracks:      p.Events != nil,
		events:      make(map[string]*object, len(p.Events)),
		otherEvents: p.OtherEvents,
		identify:    compileObject(p.Identify, inTraits),
		group:       compileObject(p.Group, inTraits),
		page:        compileObject(p.Page, inProperties),
		screen:      compileObject(p.Screen, inProperties),
	}
	for name, event := range p.Events {
		compiled.events[stableName(name)] = compileObject(&event, inProperties)
	}
	return compiled
}

func compileObject(o *workspace.PlannedObject, prefix string) *object {
	if o == nil {
		return nil
	}
	compiled := &object{prefix: prefix, properties: make(map[string]property, len(o.Properties)), closed: o.Closed}
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		planned := property{kind: o.Properties[name].Type}
		if o.Properties[name].Required {
			compiled.required = append(compiled.required, stableName(name))
			planned.place = len(compiled.required)
		}
		compiled.properties[stableName(name)] = planned
	}
	return compiled
}

// stableName returns a name as it stands between the quotes of a stable string:
// what a call holds is compared as it is.
func stableName(name string) string {
	quoted := stablejson.AppendString(nil, name)
	return string(quoted[1 : len(quoted)-1])
}

// object returns what the call's properties or traits may hold, nil when they
// are not judged. False is an event that is not planned.
func (p *Plan) object(call schemas.Type, event []byte) (o *object, planned bool) {
	switch call {
	case schemas.TypeTrack:
		return p.event(event)
	case schemas.TypeIdentify:
		return p.identify, true
	case schemas.TypeGroup:
		return p.group, true
	case schemas.TypePage:
		return p.page, true
	case schemas.TypeScreen:
		return p.screen, true
	default:
		return nil, true
	}
}

func (p *Plan) event(name []byte) (o *object, planned bool) {
	if !p.tracks || len(name) < len(`""`) {
		return nil, true
	}
	o, planned = p.events[string(name[1:len(name)-1])]
	return o, planned || p.otherEvents
}
