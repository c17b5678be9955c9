package wsrecord

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
)

// planRecord is a tracking plan. No events (null, or no such member) and none
// planned ({}) are two things.
type planRecord struct {
	Action      string                  `json:"action"`
	Events      map[string]objectRecord `json:"events,omitzero"`
	OtherEvents bool                    `json:"otherEvents,omitempty"`
	Identify    *objectRecord           `json:"identify,omitempty"`
	Group       *objectRecord           `json:"group,omitempty"`
	Page        *objectRecord           `json:"page,omitempty"`
	Screen      *objectRecord           `json:"screen,omitempty"`
}

// objectRecord is a workspace.PlannedObject.
type objectRecord struct {
	Properties map[string]propertyRecord `json:"properties,omitempty"`
	Closed     bool                      `json:"closed,omitempty"`
}

type propertyRecord struct {
	Type     string `json:"type,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// planToRecord returns nil for no plan.
func planToRecord(p *workspace.TrackingPlan) *planRecord {
	if p == nil {
		return nil
	}
	r := &planRecord{
		Action: string(p.Action), OtherEvents: p.OtherEvents,
		Identify: objectToRecord(p.Identify), Group: objectToRecord(p.Group),
		Page: objectToRecord(p.Page), Screen: objectToRecord(p.Screen),
	}
	if p.Events != nil {
		r.Events = make(map[string]objectRecord, len(p.Events))
	}
	for name, event := range p.Events {
		r.Events[name] = *objectToRecord(&event)
	}
	return r
}

func objectToRecord(o *workspace.PlannedObject) *objectRecord {
	if o == nil {
		return nil
	}
	r := &objectRecord{Properties: make(map[string]propertyRecord, len(o.Properties)), Closed: o.Closed}
	for name, property := range o.Properties {
		r.Properties[name] = propertyRecord{string(property.Type), property.Required}
	}
	return r
}

// plan is the inverse of planToRecord. It holds a record to the rules of the
// file: an action or a type of a later version is not taken for another.
func (r *planRecord) plan() (*workspace.TrackingPlan, error) {
	if r == nil {
		return nil, nil //nolint:nilnil // no plan
	}
	if objection := rules.PlanAction(r.Action); objection != "" {
		return nil, fmt.Errorf("trackingPlan.action: expected %s", objection)
	}
	p := &workspace.TrackingPlan{Action: workspace.PlanAction(r.Action), OtherEvents: r.OtherEvents}
	if r.Events != nil {
		p.Events = make(map[string]workspace.PlannedObject, len(r.Events))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Events)) {
		if objection := rules.PlannedName(name); objection != "" {
			return nil, fmt.Errorf("trackingPlan.events: expected %s", objection)
		}
		event := r.Events[name]
		object, err := event.object("events")
		if err != nil {
			return nil, err
		}
		p.Events[name] = *object
	}
	if err := r.others(p); err != nil {
		return nil, err
	}
	if objection := rules.Plan(p); objection != "" {
		return nil, fmt.Errorf("trackingPlan: expected %s", objection)
	}
	return p, nil
}

// others fills in what the plan says of calls that are no track calls.
func (r *planRecord) others(p *workspace.TrackingPlan) error {
	for _, each := range []struct {
		key  string
		from *objectRecord
		to   **workspace.PlannedObject
	}{{"identify", r.Identify, &p.Identify}, {"group", r.Group, &p.Group}, {"page", r.Page, &p.Page}, {"screen", r.Screen, &p.Screen}} {
		object, err := each.from.object(each.key)
		if err != nil {
			return err
		}
		*each.to = object
	}
	return nil
}

// object is the inverse of objectToRecord. key is where in the plan it stands.
func (r *objectRecord) object(key string) (*workspace.PlannedObject, error) {
	if r == nil {
		return nil, nil //nolint:nilnil // nothing planned
	}
	o := &workspace.PlannedObject{Closed: r.Closed}
	if len(r.Properties) > 0 {
		o.Properties = make(map[string]workspace.PlannedProperty, len(r.Properties))
	}
	for name, property := range r.Properties {
		if objection := property.objection(name); objection != "" {
			return nil, fmt.Errorf("trackingPlan.%s: expected %s", key, objection)
		}
		o.Properties[name] = workspace.PlannedProperty{Type: workspace.PropertyType(property.Type), Required: property.Required}
	}
	return o, nil
}

func (r *propertyRecord) objection(name string) string {
	if objection := rules.PlannedName(name); objection != "" || r.Type == string(workspace.AnyType) {
		return objection
	}
	return rules.PropertyType(r.Type)
}
