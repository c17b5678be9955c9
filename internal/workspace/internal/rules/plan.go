package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anabranch/anabranch/internal/workspace"
)

// Bounds of a tracking plan. Its source's record has to stay under the megabyte
// that brokers take by default.
const (
	maxPlannedNameBytes = 256
	maxPlanBytes        = 900_000
	// What a name costs in a record beside its own bytes, at most.
	eventBytes    = len(`"":{"properties":{},"closed":true},`)
	propertyBytes = len(`"":{"type":"boolean","required":true},`)
)

// PlanAction is for the action of a tracking plan.
func PlanAction(action string) string {
	return oneOf(action, workspace.PlanActions())
}

// PropertyType is for the type of a planned property.
func PropertyType(name string) string {
	return oneOf(name, workspace.PropertyTypes())
}

func oneOf[T ~string](word string, set []T) string {
	if slices.Contains(set, T(word)) {
		return ""
	}
	words := make([]string, len(set))
	for i, each := range set {
		words[i] = string(each)
	}
	return "one of " + strings.Join(words, ", ")
}

// PlannedName is for the name of a planned event, property or trait. A name with
// characters that nobody sees never means what it looks like.
func PlannedName(name string) string {
	unseen := func(r rune) bool { return !unicode.IsPrint(r) }
	if name == "" || len(name) > maxPlannedNameBytes || !utf8.ValidString(name) || strings.ContainsFunc(name, unseen) {
		return fmt.Sprintf("a name of printable characters, 1 to %d bytes", maxPlannedNameBytes)
	}
	return ""
}

// Plan is for a tracking plan as a whole, whose parts have no objection of
// their own.
func Plan(p *workspace.TrackingPlan) string {
	if size := planBytes(p); size > maxPlanBytes {
		return fmt.Sprintf("a plan of at most %d bytes, as it is stored; this one takes up to %d", maxPlanBytes, size)
	}
	return ""
}

// planBytes returns how many bytes the events and properties of a plan have at
// most in a record.
func planBytes(p *workspace.TrackingPlan) int {
	size := 0
	for name, event := range p.Events {
		size += eventBytes + nameBytes(name) + propertiesBytes(&event)
	}
	for _, object := range []*workspace.PlannedObject{p.Identify, p.Group, p.Page, p.Screen} {
		if object != nil {
			size += propertiesBytes(object)
		}
	}
	return size
}

func propertiesBytes(o *workspace.PlannedObject) int {
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
