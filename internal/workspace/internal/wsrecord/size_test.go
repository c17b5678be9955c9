package wsrecord

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
	"github.com/anabranch/anabranch/schemas"
)

// named returns what a rule checks.
func named(tb testing.TB, name string) func(string) string {
	tb.Helper()
	rule, ok := rules.Named(name)
	if !ok {
		tb.Fatalf("no rule %s", name)
	}
	return rule.Check
}

func shapeOf(tb testing.TB, of string) *kind.Shape {
	tb.Helper()
	return NewTable().shapes[of]
}

func field(tb testing.TB, s *kind.Shape, key string) *kind.Shape {
	tb.Helper()
	for _, f := range s.Fields {
		if f.Key == key {
			return f.Shape
		}
	}
	tb.Fatalf("no field %s", key)
	return nil
}

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
		ID:           longest(t, named(t, "id"), "", "a"),
		Type:         workspace.TypeWebhooks,
		Name:         longest(t, named(t, "name"), "", `"`),
		SharedSecret: schemas.Secret(longest(t, named(t, "secret"), "", "\x01")),
	}
	header := workspace.Header{
		Name:  longest(t, named(t, "headerName"), "", "X"),
		Value: schemas.Secret(longest(t, named(t, "headerValue"), "", `"`)),
	}
	endpointsShape := field(t, shapeOf(t, workspace.KindDestination), "endpoints")
	headersShape := field(t, endpointsShape.Elem, "headers")
	headers := []workspace.Header{header}
	for headersShape.CheckLength(len(headers)+1) == "" {
		headers = append(headers, header)
	}
	url := longest(t, named(t, "url"), "https://h/", `"`)
	for endpointsShape.CheckLength(len(d.Endpoints)+1) == "" {
		d.Endpoints = append(d.Endpoints, workspace.Endpoint{URL: url, Headers: slices.Clone(headers)})
	}
	text, err := Write(shapeOf(t, workspace.KindDestination), reflect.ValueOf(d))
	if err != nil || len(text) > 1_000_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, _, err = readInto(shapeOf(t, workspace.KindDestination), d.ID, text); err != nil {
		t.Error(err)
	}
	// Sealed they take a third more than they say, and escapes less.
	form := strings.Repeat("A", len(d.SharedSecret)*4/3+64)
	sealed := d.MapSecrets(func(workspace.Place, schemas.Secret) schemas.Secret { return schemas.SealedSecret(form) })
	if text, err = Write(shapeOf(t, workspace.KindDestination), reflect.ValueOf(*sealed)); err != nil || len(text) > 1_000_000 {
		t.Errorf("sealed %d bytes, %v", len(text), err)
	}
	if named(t, "url")(url+strings.Repeat("a", 2)) == "" || len(d.Endpoints) != workspace.MaxEndpoints {
		t.Errorf("not the largest: a URL of %d bytes, %d endpoints", len(url), len(d.Endpoints))
	}
}

// TestTheLargestPlanFitsIntoARecord fills a plan with what takes the most bytes
// beside its names, and with what takes the most within them.
func TestTheLargestPlanFitsIntoARecord(t *testing.T) {
	t.Parallel()
	for name, prefix := range map[string]string{"short names": "", "long names": strings.Repeat(`"`, 250)} {
		most := sort.Search(1<<14, func(n int) bool { return planOf(prefix, n+1).Objection() != "" })
		text := encoded(t, planOf(prefix, most))
		if len(text) > 1_000_000 || len(text) < 800_000 {
			t.Errorf("%s: %d bytes of a megabyte", name, len(text))
		}
		if _, _, err := readInto(shapeOf(t, workspace.KindSource), "a", text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := readInto(shapeOf(t, workspace.KindSource), "a", encoded(t, planOf(prefix, most+1))); err == nil || !strings.Contains(err.Error(), "a plan of at most") {
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
	text, err := Write(shapeOf(t, workspace.KindSource), reflect.ValueOf(workspace.Source{Name: longest(t, named(t, "name"), "", "\x01"), Plan: plan}))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
