package workspace

import (
	"fmt"
	"strings"
	"testing"
)

// TestPlanBytes reaches the bound from below, with names whose quotes count twice.
func TestPlanBytes(t *testing.T) {
	t.Parallel()
	plan := func(events int) *TrackingPlan {
		p := &TrackingPlan{Events: make(map[string]PlannedObject), Page: new(PlannedObject)}
		for i := range events {
			property := map[string]PlannedProperty{fmt.Sprintf(`"%08d`, i): {}}
			p.Events[fmt.Sprintf(`\%08d`, i)] = PlannedObject{Properties: property}
		}
		return p
	}
	const each = eventBytes + propertyBytes + 2*10
	if objection := plan(maxPlanBytes / each).Objection(); objection != "" {
		t.Errorf("refused: expected %s", objection)
	}
	want := fmt.Sprintf("a plan of at most 900000 bytes, as it is stored; this one takes up to %d", (maxPlanBytes/each+1)*each)
	if got := plan(maxPlanBytes/each + 1).Objection(); got != want {
		t.Errorf("one event more: %q, want %q", got, want)
	}
	full := plan(maxPlanBytes / each)
	full.Page.Properties = map[string]PlannedProperty{strings.Repeat("p", 256): {}}
	if full.Objection() == "" {
		t.Error("the properties of pages are not counted")
	}
}
