package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	before := NewSnapshot(
		[]Source{{ID: "gone"}, {ID: "same"}, {ID: "web", Name: "Web", Enabled: true}},
		[]Destination{{ID: "crm", Type: "webhooks", Enabled: true, Endpoints: []Endpoint{{URL: "http://a"}}}, {ID: "old"}, {ID: "same", Sources: []string{"a", "b"}}},
	)
	after := NewSnapshot(
		[]Source{{ID: "new"}, {ID: "same"}, {ID: "web", Name: "Web 2", WriteKeyHash: [32]byte{1}}},
		[]Destination{{ID: "crm", Type: "webhooks", Enabled: true, SharedSecret: canary, Endpoints: []Endpoint{{URL: "http://b"}}}, {ID: "same", Sources: []string{"b", "a"}}},
	)
	tests := []struct {
		name          string
		before, after *Snapshot
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
		{"the same", after, after, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, lines(Diff(tt.before, tt.after))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestDiffSeesEveryField(t *testing.T) {
	t.Parallel()
	base := Destination{ID: "a", Endpoints: []Endpoint{{URL: "http://a", Headers: []Header{{"X", "1"}}}}}
	for want, change := range map[string]func(d *Destination){
		"type":         func(d *Destination) { d.Type = "b" },
		"name":         func(d *Destination) { d.Name = "b" },
		"sources":      func(d *Destination) { d.Sources = []string{"b"} },
		"enabled":      func(d *Destination) { d.Enabled = true },
		"sharedSecret": func(d *Destination) { d.SharedSecret = "b" },
		"endpoints":    func(d *Destination) { d.Endpoints = []Endpoint{{URL: "http://a", Headers: []Header{{"X", "2"}}}} },
	} {
		changed := base
		change(&changed)
		got := Diff(NewSnapshot(nil, []Destination{base}), NewSnapshot(nil, []Destination{changed}))
		if diff := cmp.Diff([]Change{{Op: Changed, Kind: "destination", ID: "a", Fields: []string{want}}}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
