package wsfile

import (
	"strconv"
	"strings"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
)

const wantPlan = "a tracking plan: action, events, identify, group, page, screen"

// trackingPlan is optional, and nil without it. A plan that names no action marks:
// whoever writes one wants to see its effect, and no event is lost by it.
func (v value) trackingPlan() *workspace.TrackingPlan {
	if v.absent() {
		return nil
	}
	o := v.object(wantPlan, "action", "events", "additionalEvents", "identify", "group", "page", "screen")
	action, ok := o.get("action").checked(rules.PlanAction(""), rules.PlanAction)
	if !ok {
		action = string(workspace.PlanMark)
	}
	plan := &workspace.TrackingPlan{
		Action:      workspace.PlanAction(action),
		Events:      o.get("events").plannedEvents(),
		OtherEvents: o.get("additionalEvents").boolean(false),
		Identify:    o.get("identify").plannedObject("traits"),
		Group:       o.get("group").plannedObject("traits"),
		Page:        o.get("page").plannedObject("properties"),
		Screen:      o.get("screen").plannedObject("properties"),
	}
	if objection := rules.Plan(plan); objection != "" {
		v.expected(objection)
	}
	return plan
}

// plannedEvents returns nil when the place is absent: track calls are not judged
// then.
func (v value) plannedEvents() map[string]workspace.PlannedObject {
	if v.absent() {
		return nil
	}
	events := make(map[string]workspace.PlannedObject)
	for _, e := range v.named("a mapping of events' names to their properties; {} says that none is planned") {
		if event := e.value.plannedObject("properties"); event != nil {
			events[e.key.node.Value] = *event
		}
	}
	return events
}

// plannedObject reads what the properties, or traits, under the given key may be.
func (v value) plannedObject(key string) *workspace.PlannedObject {
	if v.absent() {
		return nil
	}
	others := "additional" + strings.ToUpper(key[:1]) + key[1:]
	o := v.object("a mapping with the keys "+key+" and "+others, key, others)
	return &workspace.PlannedObject{
		Properties: o.get(key).plannedProperties(key),
		Closed:     !o.get(others).boolean(true),
	}
}

func (v value) plannedProperties(key string) map[string]workspace.PlannedProperty {
	if v.absent() {
		return nil
	}
	var properties map[string]workspace.PlannedProperty
	for _, e := range v.named("a mapping of names to what these " + key + " may be") {
		if properties == nil {
			properties = make(map[string]workspace.PlannedProperty)
		}
		properties[e.key.node.Value] = e.value.plannedProperty()
	}
	return properties
}

func (v value) plannedProperty() workspace.PlannedProperty {
	o := v.object("a mapping with the keys type and required; {} allows any value", "type", "required")
	name, _ := o.get("type").checked(rules.PropertyType(""), rules.PropertyType)
	return workspace.PlannedProperty{
		Type:     workspace.PropertyType(name),
		Required: o.get("required").boolean(false),
	}
}

// named returns the members of a mapping whose keys are names that people gave,
// and reports those that can be none.
func (v value) named(want string) []entry {
	members := v.members(want, namePath)
	named := members[:0]
	for _, e := range members {
		e.key.hidden = false
		if _, ok := e.key.checked("a name", rules.PlannedName); ok {
			named = append(named, e)
		}
	}
	return named
}

// namePath is the path of a member under a name that people gave:
// `events["Order Completed"]`. A tracking plan holds no secrets.
func namePath(path, name string) string {
	if plainKey.MatchString(name) {
		return path + "." + name
	}
	const shown = 60
	if len(name) > shown {
		return path + "[" + strconv.Quote(strings.ToValidUTF8(name[:shown], "")) + "…]"
	}
	return path + "[" + strconv.Quote(name) + "]"
}
