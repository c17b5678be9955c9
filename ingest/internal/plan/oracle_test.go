package plan

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/internal/workspace"
)

// violated says by the words of the plan alone which properties of a call violate
// it: ascending, null where nothing may be said.
func violated(o *workspace.PlannedObject, properties map[string]any) (names []string) {
	for name, value := range properties {
		planned, ok := o.Properties[name]
		if value != nil && (!ok && o.Closed || ok && !isOfType(value, planned.Type)) {
			names = append(names, name)
		}
	}
	for name, planned := range o.Properties {
		if planned.Required && properties[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func isOfType(value any, kind workspace.PropertyType) bool {
	switch v := value.(type) {
	case string:
		return kind == "string" || kind == ""
	case float64:
		return kind == "number" || kind == "" || kind == "integer" && v == math.Trunc(v)
	case bool:
		return kind == "boolean" || kind == ""
	case []any:
		return kind == "array" || kind == ""
	default:
		return kind == "object" || kind == ""
	}
}

// planFor makes a plan out of chance and of names that text may hold.
func planFor(r *rand.Rand, properties map[string]any) *workspace.PlannedObject {
	o := &workspace.PlannedObject{Properties: make(map[string]workspace.PlannedProperty), Closed: r.IntN(2) == 0}
	names := []string{"a", "order_id", "", `"`, "ä", "\x00", "10"}
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	types := append(workspace.PropertyTypes(), workspace.AnyType)
	for _, name := range names {
		if r.IntN(3) > 0 {
			o.Properties[name] = workspace.PlannedProperty{Type: types[r.IntN(len(types))], Required: r.IntN(2) == 0}
		}
	}
	return o
}

// FuzzCheck holds plans against what package json reads of the same text.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"order_id":"1","total":1e21}`, `{"a":1.5,"a":null,"10":[],"9":{"b":"}\"]"}}`, `{"":"","\"":"\\","\\\"":1,"\u00e4":"\ud83d\ude00"}`,
		`{"a":-0,"b":1e400,"c":5e-324,"d":0.1,"e":123456789012345678901234567890}`, `{"\u0000":{"\"":["\\\""]},"x":true,"y":false}`, `{"a":"\\","b":"\\\"","c":[[[{}]]]}`,
	} {
		f.Add(text, uint64(1))
		f.Add(text, uint64(7))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		stable, err := stablejson.Append(nil, []byte(text))
		if err != nil || stable[0] != '{' {
			return
		}
		var properties map[string]any
		if err := json.Unmarshal(stable, &properties); err != nil {
			t.Fatalf("%s: %v", stable, err)
		}
		planned := planFor(rand.New(rand.NewPCG(seed, 0)), properties)
		before := bytes.Clone(stable)
		findings := Compile(&workspace.TrackingPlan{Page: planned}).Check("page", nil, stable)
		if !bytes.Equal(before, stable) {
			t.Fatalf("%s was changed to %s", before, stable)
		}
		var got []string
		for _, finding := range findings {
			got = append(got, strings.TrimPrefix(finding.Path, inProperties))
		}
		want := violated(planned, properties)
		for i, name := range want {
			quoted := stablejson.AppendString(nil, name)
			want[i] = shown(quoted[1 : len(quoted)-1])
		}
		compare(t, want, got)
	})
}

func compare(t *testing.T, want, got []string) {
	t.Helper()
	slices.Sort(want)
	if len(want) > MaxFindings {
		if len(got) != MaxFindings || slices.ContainsFunc(got, func(name string) bool { return !slices.Contains(want, name) }) {
			t.Errorf("got %q, want %d of %q", got, MaxFindings, want)
		}
		return
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
