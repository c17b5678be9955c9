package workspace

import (
	"fmt"
	"strings"
)

// TrackingPlan is what the calls of a source may hold. It is shared by all who
// hold the source and must not be changed.
//
// Types of calls that the plan says nothing about are not judged, and neither is
// an alias, which holds nothing but ids.
type TrackingPlan struct {
	Action PlanAction `file:"action" default:"mark" absent:"" enum:"allow mark block" desc:"what happens to a call that violates the plan; all of them are counted"`
	// Events are the planned events of track calls, by their names. Nil: track
	// calls are not judged. Empty: no event is planned.
	Events map[string]PlannedObject `file:"events,optional,nil" keys:"plannedName" want:"a mapping of events' names to their properties; {} says that none is planned" desc:"planned track calls, by event; without it they are not checked"`
	// OtherEvents says that events that are not planned do not violate the plan.
	OtherEvents bool `file:"additionalEvents,optional" record:"otherEvents" desc:"whether events that are not listed are allowed"`

	// Nil: not judged.
	Identify *PlannedObject `file:"identify,optional" rename:"properties=traits additionalProperties=additionalTraits" desc:"traits of identify calls; without it they are not checked"`
	Group    *PlannedObject `file:"group,optional" rename:"properties=traits additionalProperties=additionalTraits" desc:"traits of group calls; without it they are not checked"`
	Page     *PlannedObject `file:"page,optional" desc:"properties of page calls; without it they are not checked"`
	Screen   *PlannedObject `file:"screen,optional" desc:"properties of screen calls; without it they are not checked"`
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
	Properties map[string]PlannedProperty `file:"properties,optional" keys:"plannedName" want:"a mapping of names to what these {key} may be" each:"a mapping with the keys type and required; {} allows any value" desc:"what each is allowed to be, by name"`
	Closed     bool                       `file:"additionalProperties,optional,not" record:"closed" desc:"whether others that are not listed are allowed"`
}

// PlannedProperty is what one property or trait may be. Its zero value allows
// everything. A value that is null counts as absent, as an id that is null does
// (protocol, 6).
type PlannedProperty struct {
	Type     PropertyType `file:"type,optional" enum:"string number integer boolean object array" desc:"its JSON type; without it any"`
	Required bool         `file:"required,optional" desc:"whether a call without it, or with null, violates the plan"`
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

// A plan's source has to fit into a record, which brokers by default take up to a
// megabyte.
const (
	maxPlanBytes = 900_000
	// What a name costs in a record beside its own bytes, at most.
	eventBytes    = len(`"":{"properties":{},"closed":true},`)
	propertyBytes = len(`"":{"type":"boolean","required":true},`)
)

// Objection returns what was expected instead of a plan that is too large to be
// stored, "" for any other.
func (p *TrackingPlan) Objection() string {
	if size := p.bytes(); size > maxPlanBytes {
		return fmt.Sprintf("a plan of at most %d bytes, as it is stored; this one takes up to %d", maxPlanBytes, size)
	}
	return ""
}

// bytes returns how many bytes the events and properties have at most in a record.
func (p *TrackingPlan) bytes() int {
	size := 0
	for name, event := range p.Events {
		size += eventBytes + nameBytes(name) + event.bytes()
	}
	for _, object := range []*PlannedObject{p.Identify, p.Group, p.Page, p.Screen} {
		if object != nil {
			size += object.bytes()
		}
	}
	return size
}

func (o *PlannedObject) bytes() int {
	size := 0
	for name := range o.Properties {
		size += propertyBytes + nameBytes(name)
	}
	return size
}

// nameBytes knows that of the characters that a name may hold, JSON escapes two,
// with one byte more.
func nameBytes(name string) int {
	return len(name) + strings.Count(name, `"`) + strings.Count(name, `\`)
}
