package wsfile

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

// planOf wraps a tracking plan into an otherwise good file: its first line is 6.
func planOf(keys string) string {
	return source("id: website\nwriteKey: wk\ntrackingPlan:\n" + strings.TrimRight(indent(keys), "\n"))
}

func TestPlanDefaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*workspace.TrackingPlan{
		"action: allow":          {Action: workspace.PlanAllow},
		"events: {}":             {Action: workspace.PlanMark, Events: map[string]workspace.PlannedObject{}},
		"events: {e: {}}":        {Action: workspace.PlanMark, Events: map[string]workspace.PlannedObject{"e": {}}},
		"identify: {}":           {Action: workspace.PlanMark, Identify: &workspace.PlannedObject{}},
		"page: {properties: {}}": {Action: workspace.PlanMark, Page: &workspace.PlannedObject{}},
		"group: {traits: {1: {}}}": {
			Action: workspace.PlanMark,
			Group:  &workspace.PlannedObject{Properties: map[string]workspace.PlannedProperty{"1": {}}},
		},
	} {
		got, _ := parse(t, planOf(text)).Source("website")
		if diff := cmp.Diff(want, got.Plan); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if without, _ := parse(t, source("id: website\nwriteKey: wk")).Source("website"); without.Plan != nil {
		t.Errorf("a source without one has the plan %+v", without.Plan)
	}
}

func TestPlanProblems(t *testing.T) {
	t.Parallel()
	const (
		path      = "sources[0].trackingPlan"
		wantPlan  = "a tracking plan: action, events, identify, group, page, screen"
		wantName  = "a name of printable characters, 1 to 256 bytes"
		wantTypes = "one of string, number, integer, boolean, object, array"
	)
	long := strings.Repeat("a", 257)
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"cut short":            {"", []string{"5: " + path + ": nothing: expected " + wantPlan}},
		"a list":               {"- events", []string{"6: " + path + ": a list: expected " + wantPlan}},
		"unknown key":          {"event: {}", []string{"6: " + path + ".event: unknown key: expected events"}},
		"another action":       {"action: drop", []string{"6: " + path + `.action: "drop": expected one of allow, mark, block`}},
		"events cut short":     {"events:", []string{"6: " + path + ".events: nothing: expected a mapping of events' names to their properties; {} says that none is planned"}},
		"a list of events":     {"events: [e]", []string{"6: " + path + ".events: a list: expected a mapping of events' names to their properties; {} says that none is planned"}},
		"an event cut short":   {"events:\n  Order Completed:", []string{"7: " + path + `.events["Order Completed"]: nothing: expected a mapping with the keys properties and additionalProperties`}},
		"an event named twice": {"events:\n  Order Completed: {}\n  Order Completed: {}", []string{"8: " + path + `.events["Order Completed"]: repeated: expected the key once; it is also on line 7`}},
		"an event, no name":    {"events: {'': {}}", []string{"6: " + path + `.events[""]: "": expected ` + wantName}},
		"a name too long":      {"events: {" + long + ": {}}", []string{"6: " + path + `.events["` + long[:60] + `"…]: "` + long[:100] + `"…: expected ` + wantName}},
		"a name unseen":        {"events: {\"a\\tb\": {}}", []string{"6: " + path + `.events["a\tb"]: "a\tb": expected ` + wantName}},
		"traits of an event":   {"events: {e: {traits: {}}}", []string{"6: " + path + ".events.e.traits: unknown key: expected one of properties, additionalProperties"}},
		"properties of a user": {"identify: {properties: {}}", []string{"6: " + path + ".identify.properties: unknown key: expected one of traits, additionalTraits"}},
		"a list of properties": {"page: {properties: [url]}", []string{"6: " + path + ".page.properties: a list: expected a mapping of names to what these properties may be"}},
		"a type alone":         {"screen: {properties: {size: number}}", []string{"6: " + path + ".screen.properties.size: text: expected a mapping with the keys type and required; {} allows any value"}},
		"another type":         {"group:\n  traits:\n    Employee Count: {type: int}", []string{"8: " + path + `.group.traits["Employee Count"].type: "int": expected ` + wantTypes}},
		"truths that are none": {"additionalEvents: no\nidentify:\n  traits: {a: {required: 1}}\n  additionalTraits: never", []string{
			"6: " + path + `.additionalEvents: "no": expected true or false`,
			"8: " + path + `.identify.traits.a.required: "1": expected true or false`,
			"9: " + path + `.identify.additionalTraits: "never": expected true or false`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := planOf(tt.text)
			if tt.text == "" {
				text = source("id: website\nwriteKey: wk\ntrackingPlan:")
			}
			if diff := cmp.Diff(tt.want, problemsOf(t, text)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, text)
			}
		})
	}
}

func TestPlanTooLarge(t *testing.T) {
	t.Parallel()
	var names strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&names, "event_%05d: {}, ", i)
	}
	got := problemsOf(t, planOf("events: {"+names.String()+"}"))
	want := fmt.Sprintf("6: sources[0].trackingPlan: a mapping: expected a plan of at most 900000 bytes, as it is stored; this one takes up to %d", 20_000*(len("event_00000")+len(`"":{"properties":{},"closed":true},`)))
	if diff := cmp.Diff([]string{want}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPlansComeBackAsTheyWereWritten writes plans down as a program would.
func TestPlansComeBackAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		want := wstest.RandomPlan(r)
		if want == nil {
			continue
		}
		text, err := yaml.Marshal(map[string]any{
			"sources":      []any{map[string]any{"id": "website", "writeKey": "wk", "trackingPlan": written(want)}},
			"destinations": []any{},
		})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := parse(t, string(text)).Source("website")
		if diff := cmp.Diff(want, got.Plan); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, text)
		}
	}
}

func written(p *workspace.TrackingPlan) map[string]any {
	plan := map[string]any{"action": string(p.Action), "additionalEvents": p.OtherEvents}
	if p.Events != nil {
		events := make(map[string]any)
		for name, event := range p.Events {
			events[name] = writtenObject(&event, "properties")
		}
		plan["events"] = events
	}
	for key, o := range map[string]*workspace.PlannedObject{"page": p.Page, "screen": p.Screen} {
		if o != nil {
			plan[key] = writtenObject(o, "properties")
		}
	}
	for key, o := range map[string]*workspace.PlannedObject{"identify": p.Identify, "group": p.Group} {
		if o != nil {
			plan[key] = writtenObject(o, "traits")
		}
	}
	return plan
}

func writtenObject(o *workspace.PlannedObject, key string) map[string]any {
	properties := make(map[string]any)
	for name, property := range o.Properties {
		planned := map[string]any{"required": property.Required}
		if property.Type != workspace.AnyType {
			planned["type"] = string(property.Type)
		}
		properties[name] = planned
	}
	others := map[string]string{"properties": "additionalProperties", "traits": "additionalTraits"}[key]
	return map[string]any{key: properties, others: !o.Closed}
}
