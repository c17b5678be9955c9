package workspace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	before := workspace.NewSnapshot(
		[]workspace.Source{{ID: "gone"}, {ID: "same"}, {ID: "web", Name: "Web", Enabled: true}},
		[]workspace.Destination{{ID: "crm", Type: "webhooks", Enabled: true, Endpoints: []workspace.Endpoint{{URL: "http://a"}}}, {ID: "old"}, {ID: "same", Sources: []string{"a", "b"}}},
	)
	after := workspace.NewSnapshot(
		[]workspace.Source{{ID: "new"}, {ID: "same"}, {ID: "web", Name: "Web 2", WriteKeyHash: [32]byte{1}}},
		[]workspace.Destination{{ID: "crm", Type: "webhooks", Enabled: true, SharedSecret: wstest.Canary, Endpoints: []workspace.Endpoint{{URL: "http://b"}}}, {ID: "same", Sources: []string{"b", "a"}}},
	)
	tests := []struct {
		name          string
		before, after *workspace.Snapshot
		want          []string
	}{
		{"there", before, after, []string{
			"- source gone", "+ source new", "~ source web: name, writeKey, enabled changed",
			"~ destination crm: sharedSecret, endpoints changed", "- destination old",
		}},
		{"and back", after, before, []string{
			"+ source gone", "- source new", "~ source web: name, writeKey, enabled changed",
			"~ destination crm: sharedSecret, endpoints changed", "+ destination old",
		}},
		{"the same", after, after, []string{}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, wstest.Lines(workspace.Diff(tt.before, tt.after))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestDiffSeesEveryField(t *testing.T) {
	t.Parallel()
	base := workspace.Destination{ID: "a", Endpoints: []workspace.Endpoint{{URL: "http://a", Headers: []workspace.Header{{Name: "X", Value: "1"}}}}}
	for want, change := range map[string]func(d *workspace.Destination){
		"type":         func(d *workspace.Destination) { d.Type = "b" },
		"name":         func(d *workspace.Destination) { d.Name = "b" },
		"sources":      func(d *workspace.Destination) { d.Sources = []string{"b"} },
		"enabled":      func(d *workspace.Destination) { d.Enabled = true },
		"sharedSecret": func(d *workspace.Destination) { d.SharedSecret = "b" },
		"endpoints": func(d *workspace.Destination) {
			d.Endpoints = []workspace.Endpoint{{URL: "http://a", Headers: []workspace.Header{{Name: "X", Value: "2"}}}}
		},
	} {
		changed := base
		change(&changed)
		got := workspace.Diff(workspace.NewSnapshot(nil, []workspace.Destination{base}), workspace.NewSnapshot(nil, []workspace.Destination{changed}))
		if diff := cmp.Diff([]workspace.Change{{Op: workspace.Changed, Kind: "destination", ID: "a", Fields: []string{want}}}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestDiffSeesEveryPartOfAPlan(t *testing.T) {
	t.Parallel()
	plan := func(change func(p *workspace.TrackingPlan)) *workspace.TrackingPlan {
		properties := map[string]workspace.PlannedProperty{"total": {Type: workspace.NumberType}}
		p := &workspace.TrackingPlan{
			Action: workspace.PlanMark, Events: map[string]workspace.PlannedObject{"Order Completed": {Properties: properties}},
			Identify: &workspace.PlannedObject{Properties: properties},
		}
		change(p)
		return p
	}
	same := func(*workspace.TrackingPlan) {}
	differs := func(a, b *workspace.TrackingPlan) bool {
		of := func(p *workspace.TrackingPlan) *workspace.Snapshot {
			return workspace.NewSnapshot([]workspace.Source{{ID: "web", Plan: p}}, nil)
		}
		lines := wstest.Lines(workspace.Diff(of(a), of(b)))
		if len(lines) > 0 && lines[0] != "~ source web: trackingPlan changed" {
			t.Errorf("got %v", lines)
		}
		return len(lines) > 0
	}
	if differs(nil, nil) || differs(plan(same), plan(same)) {
		t.Error("two that say the same differ")
	}
	if !differs(plan(same), nil) || !differs(nil, plan(same)) {
		t.Error("a plan and none do not differ")
	}
	for name, change := range map[string]func(p *workspace.TrackingPlan){
		"action":            func(p *workspace.TrackingPlan) { p.Action = workspace.PlanBlock },
		"no events planned": func(p *workspace.TrackingPlan) { p.Events = map[string]workspace.PlannedObject{} },
		"events not judged": func(p *workspace.TrackingPlan) { p.Events = nil },
		"other events":      func(p *workspace.TrackingPlan) { p.OtherEvents = true },
		"an event more":     func(p *workspace.TrackingPlan) { p.Events["e"] = workspace.PlannedObject{} },
		"an event closed": func(p *workspace.TrackingPlan) {
			p.Events["Order Completed"] = workspace.PlannedObject{Properties: p.Identify.Properties, Closed: true}
		},
		"a property": func(p *workspace.TrackingPlan) {
			p.Identify.Properties["total"] = workspace.PlannedProperty{Type: workspace.NumberType, Required: true}
		},
		"identify": func(p *workspace.TrackingPlan) { p.Identify = nil },
		"group":    func(p *workspace.TrackingPlan) { p.Group = &workspace.PlannedObject{} },
		"page":     func(p *workspace.TrackingPlan) { p.Page = &workspace.PlannedObject{} },
		"screen":   func(p *workspace.TrackingPlan) { p.Screen = &workspace.PlannedObject{} },
	} {
		if !differs(plan(same), plan(change)) {
			t.Errorf("%s: not seen", name)
		}
	}
	none := plan(func(p *workspace.TrackingPlan) { p.Events = map[string]workspace.PlannedObject{} })
	if !differs(none, plan(func(p *workspace.TrackingPlan) { p.Events = nil })) {
		t.Error("no planned events and events that are not judged are the same")
	}
}
