package workspace

import "maps"

// TrackingPlan is what the calls of a source may hold. It is shared by all who
// hold the source and must not be changed.
//
// Types of calls that the plan says nothing about are not judged, and neither is
// an alias, which holds nothing but ids.
type TrackingPlan struct {
	Action PlanAction
	// Events are the planned events of track calls, by their names. Nil: track
	// calls are not judged. Empty: no event is planned.
	Events map[string]PlannedObject
	// OtherEvents says that events that are not planned do not violate the plan.
	OtherEvents bool

	Identify *PlannedObject // traits; nil: not judged, as for the others
	Group    *PlannedObject // traits
	Page     *PlannedObject // properties
	Screen   *PlannedObject // properties
}

// PlanAction is what becomes of a call that violates its source's tracking plan.
type PlanAction string

// The actions. All of them count the call.
const (
	PlanAllow PlanAction = "allow" // it is taken in as it is
	PlanMark  PlanAction = "mark"  // it is taken in, and its context says what it violates
	PlanBlock PlanAction = "block" // it goes to dead-letters
)

// PlanActions returns all actions.
func PlanActions() []PlanAction { return []PlanAction{PlanAllow, PlanMark, PlanBlock} }

// PlannedObject is what the properties or traits of a call may hold. Its zero
// value allows everything.
type PlannedObject struct {
	Properties map[string]PlannedProperty
	Closed     bool // others than these violate the plan
}

// PlannedProperty is what one property or trait may be. Its zero value allows
// everything. A value that is null counts as absent, as an id that is null does
// (protocol, 6).
type PlannedProperty struct {
	Type     PropertyType
	Required bool
}

// PropertyType is a JSON type in the words of JSON Schema.
type PropertyType string

// The types. A whole number is an integer whether or not it was sent with a
// fraction of zero, as JSON Schema has it, and a number in any case.
const (
	AnyType     PropertyType = ""
	StringType  PropertyType = "string"
	NumberType  PropertyType = "number"
	IntegerType PropertyType = "integer"
	BooleanType PropertyType = "boolean"
	ObjectType  PropertyType = "object"
	ArrayType   PropertyType = "array"
)

// PropertyTypes returns all types that can be written down, so all but
// [AnyType].
func PropertyTypes() []PropertyType {
	return []PropertyType{StringType, NumberType, IntegerType, BooleanType, ObjectType, ArrayType}
}

// equal reports whether both say the same; nil is no plan.
func (p *TrackingPlan) equal(other *TrackingPlan) bool {
	if p == nil || other == nil {
		return p == other
	}
	return p.Action == other.Action && p.OtherEvents == other.OtherEvents &&
		(p.Events == nil) == (other.Events == nil) && maps.EqualFunc(p.Events, other.Events, PlannedObject.equal) &&
		equalObjects(p.Identify, other.Identify) && equalObjects(p.Group, other.Group) &&
		equalObjects(p.Page, other.Page) && equalObjects(p.Screen, other.Screen)
}

func equalObjects(a, b *PlannedObject) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.equal(*b)
}

func (o PlannedObject) equal(other PlannedObject) bool {
	return o.Closed == other.Closed && maps.Equal(o.Properties, other.Properties)
}
