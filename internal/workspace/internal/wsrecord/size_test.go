package wsrecord

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
	"github.com/anabranch/anabranch/schemas"
)

// longest returns the longest text of prefix and many times unit that a rule
// accepts.
func longest(tb testing.TB, rule func(string) string, prefix, unit string) string {
	tb.Helper()
	text := prefix + unit
	if objection := rule(text); objection != "" {
		tb.Fatalf("%q: expected %s", text, objection)
	}
	for len(text) < 1<<16 && rule(text+unit) == "" {
		text += unit
	}
	return text
}

// TestTheLargestDestinationFitsIntoARecord fills what the rules allow with what
// takes the most bytes in JSON of all that each may hold.
func TestTheLargestDestinationFitsIntoARecord(t *testing.T) {
	t.Parallel()
	d := workspace.Destination{
		ID:           longest(t, rules.ID, "", "a"),
		Type:         workspace.TypeWebhooks,
		Name:         longest(t, rules.Name, "", `"`),
		SharedSecret: schemas.Secret(longest(t, rules.Secret, "", "\x01")),
	}
	header := workspace.Header{
		Name:  longest(t, rules.HeaderName, "", "X"),
		Value: schemas.Secret(longest(t, rules.HeaderValue, "", `"`)),
	}
	headers := []workspace.Header{header}
	for rules.Headers(len(headers)+1) == "" {
		headers = append(headers, header)
	}
	url := longest(t, rules.URL, "https://h/", `"`)
	for rules.Endpoints(len(d.Endpoints)+1) == "" {
		d.Endpoints = append(d.Endpoints, workspace.Endpoint{URL: url, Headers: slices.Clone(headers)})
	}
	text, err := encodeDestination(&d)
	if err != nil || len(text) > 1_000_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := decodeDestination(d.ID, text); err != nil {
		t.Error(err)
	}
	if rules.URL(url+strings.Repeat("a", 2)) == "" || len(d.Endpoints) != workspace.MaxEndpoints {
		t.Errorf("not the largest: a URL of %d bytes, %d endpoints", len(url), len(d.Endpoints))
	}
}

// TestTheLargestPlanFitsIntoARecord fills a plan with what takes the most bytes
// beside its names, and with what takes the most within them.
func TestTheLargestPlanFitsIntoARecord(t *testing.T) {
	t.Parallel()
	for name, prefix := range map[string]string{"short names": "", "long names": strings.Repeat(`"`, 250)} {
		most := sort.Search(1<<14, func(n int) bool { return rules.Plan(planOf(prefix, n+1)) != "" })
		text := encoded(t, planOf(prefix, most))
		if len(text) > 1_000_000 || len(text) < 800_000 {
			t.Errorf("%s: %d bytes of a megabyte", name, len(text))
		}
		if _, err := decodeSource("a", text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := decodeSource("a", encoded(t, planOf(prefix, most+1))); err == nil || !strings.Contains(err.Error(), "a plan of at most") {
			t.Errorf("%s: one event too many is accepted: %v", name, err)
		}
	}
}

// planOf returns a plan of n events, each with one property, whose names begin
// with a prefix.
func planOf(prefix string, n int) *workspace.TrackingPlan {
	plan := &workspace.TrackingPlan{Action: workspace.PlanBlock, Events: make(map[string]workspace.PlannedObject, n)}
	for i := range n {
		name := fmt.Sprintf("%s%06d", prefix, i)
		plan.Events[name] = workspace.PlannedObject{
			Properties: map[string]workspace.PlannedProperty{name: {Type: workspace.BooleanType, Required: true}},
			Closed:     true,
		}
	}
	return plan
}

// encoded returns the record of a source whose other fields are the largest.
func encoded(t *testing.T, plan *workspace.TrackingPlan) []byte {
	t.Helper()
	text, err := encodeSource(workspace.Source{Name: longest(t, rules.Name, "", "\x01"), Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
