package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// shop is a plan that says something about each type of call.
func shop() *workspace.TrackingPlan {
	order := map[string]workspace.PlannedProperty{
		"order_id": {Type: workspace.StringType, Required: true},
		"total":    {Type: workspace.NumberType},
		"items":    {Type: workspace.IntegerType},
		"gift":     {Type: workspace.BooleanType},
		"address":  {Type: workspace.ObjectType},
		"products": {Type: workspace.ArrayType},
		"note":     {},
	}
	return &workspace.TrackingPlan{
		Action: workspace.PlanBlock,
		Events: map[string]workspace.PlannedObject{
			"Order Completed": {Properties: order, Closed: true},
			"Order Changed":   {Properties: order},
			`Said "hi"`:       {},
		},
		Identify: &workspace.PlannedObject{Properties: map[string]workspace.PlannedProperty{"email": {Required: true}, "älter": {Type: workspace.BooleanType}}},
		Group:    &workspace.PlannedObject{Closed: true},
		Page:     &workspace.PlannedObject{Properties: map[string]workspace.PlannedProperty{"url": {Type: workspace.StringType, Required: true}}},
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	p := Compile(shop())
	long := strings.Repeat("ä", 40)
	for name, tt := range map[string]struct {
		call        schemas.Type
		event, text string
		want        []string
	}{
		"conforms":              {"track", `"Order Completed"`, `{"order_id":"1","total":1.5,"items":2,"gift":true,"address":{"a":"}"},"products":["]"],"note":[]}`, nil},
		"a name with quotes":    {"track", `"Said \"hi\""`, `{"anything":1}`, nil},
		"event not planned":     {"track", `"Order Cancelled"`, `{"order_id":1}`, []string{"event: not in the tracking plan"}},
		"another case":          {"track", `"order completed"`, `{"order_id":"1"}`, []string{"event: not in the tracking plan"}},
		"no properties":         {"track", `"Order Completed"`, ``, []string{"properties.order_id: found nothing, expected a string"}},
		"empty properties":      {"track", `"Order Completed"`, `{}`, []string{"properties.order_id: found nothing, expected a string"}},
		"null where required":   {"track", `"Order Completed"`, `{"order_id":null}`, []string{"properties.order_id: found nothing, expected a string"}},
		"null elsewhere":        {"track", `"Order Completed"`, `{"order_id":"1","total":null,"other":null}`, nil},
		"not planned, closed":   {"track", `"Order Completed"`, `{"order_id":"1","currency":"EUR"}`, []string{"properties.currency: not in the tracking plan"}},
		"not planned, open":     {"track", `"Order Changed"`, `{"order_id":"1","currency":"EUR"}`, nil},
		"required, wrong type":  {"track", `"Order Completed"`, `{"order_id":7}`, []string{"properties.order_id: found a number, expected a string"}},
		"several":               {"track", `"Order Completed"`, `{"x":1,"total":"1"}`, []string{"properties.x: not in the tracking plan", "properties.total: found a string, expected a number", "properties.order_id: found nothing, expected a string"}},
		"string for a number":   {"track", `"Order Changed"`, `{"order_id":"1","total":"99"}`, []string{"properties.total: found a string, expected a number"}},
		"string for an integer": {"track", `"Order Changed"`, `{"order_id":"1","items":"2"}`, []string{"properties.items: found a string, expected an integer"}},
		"fraction":              {"track", `"Order Changed"`, `{"order_id":"1","items":2.5}`, []string{"properties.items: found a number with a fraction, expected an integer"}},
		"tiny fraction":         {"track", `"Order Changed"`, `{"order_id":"1","items":2e-7}`, []string{"properties.items: found a number with a fraction, expected an integer"}},
		"huge whole number":     {"track", `"Order Changed"`, `{"order_id":"1","items":1.5e+21}`, nil},
		"number for a boolean":  {"track", `"Order Changed"`, `{"order_id":"1","gift":1}`, []string{"properties.gift: found a number, expected a boolean"}},
		"array for an object":   {"track", `"Order Changed"`, `{"order_id":"1","address":[1]}`, []string{"properties.address: found an array, expected an object"}},
		"object for an array":   {"track", `"Order Changed"`, `{"order_id":"1","products":{}}`, []string{"properties.products: found an object, expected an array"}},
		"boolean for a string":  {"track", `"Order Changed"`, `{"order_id":false}`, []string{"properties.order_id: found a boolean, expected a string"}},
		"trait missing":         {"identify", "", `{"name":"A"}`, []string{"traits.email: found nothing, expected a value"}},
		"trait of any type":     {"identify", "", `{"email":[],"älter":true}`, nil},
		"trait beyond ASCII":    {"identify", "", `{"email":1,"älter":"ja"}`, []string{"traits.älter: found a string, expected a boolean"}},
		"group, closed":         {"group", "", `{"a\nb":1,"` + long + `":2}`, []string{"traits.a\nb: not in the tracking plan", "traits." + long[:64] + "…: not in the tracking plan"}},
		"page":                  {"page", "", `{"url":"/"}`, nil},
		"page, no url":          {"page", "", ``, []string{"properties.url: found nothing, expected a string"}},
		"screen, not judged":    {"screen", "", `{"url":1}`, nil},
		"alias":                 {"alias", "", ``, nil},
	} {
		if diff := cmp.Diff(tt.want, lines(p.Check(tt.call, []byte(tt.event), []byte(tt.text)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func lines(findings []decode.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, f.Path+": "+f.Message)
	}
	return all
}

func TestTracksAreJudgedWhenEventsArePlanned(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		plan *workspace.TrackingPlan
		want int
	}{
		"nothing said":     {&workspace.TrackingPlan{}, 0},
		"none planned":     {&workspace.TrackingPlan{Events: map[string]workspace.PlannedObject{}}, 1},
		"others planned":   {&workspace.TrackingPlan{Events: map[string]workspace.PlannedObject{"f": {}}}, 1},
		"others allowed":   {&workspace.TrackingPlan{Events: map[string]workspace.PlannedObject{"f": {Closed: true}}, OtherEvents: true}, 0},
		"planned":          {&workspace.TrackingPlan{Events: map[string]workspace.PlannedObject{"e": {}}}, 0},
		"planned, closed":  {&workspace.TrackingPlan{Events: map[string]workspace.PlannedObject{"e": {Closed: true}}}, 1},
		"allowed, planned": {&workspace.TrackingPlan{Events: map[string]workspace.PlannedObject{"e": {Closed: true}}, OtherEvents: true}, 1},
	} {
		if got := Compile(tt.plan).Check("track", []byte(`"e"`), []byte(`{"a":1}`)); len(got) != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestFindingsAreBounded sends more of everything than there may be findings.
func TestFindingsAreBounded(t *testing.T) {
	t.Parallel()
	planned := make(map[string]workspace.PlannedProperty)
	var members []string
	for i := range 3000 {
		planned[fmt.Sprintf("required_%04d", i)] = workspace.PlannedProperty{Required: true}
		members = append(members, fmt.Sprintf(`"other_%04d":%d`, i, i))
	}
	plan := &workspace.TrackingPlan{Page: &workspace.PlannedObject{Properties: planned, Closed: true}}
	for name, tt := range map[string]struct {
		text, first string
	}{
		"not planned": {"{" + strings.Join(members, ",") + "}", "properties.other_0000: not in the tracking plan"},
		"missing":     {"{}", "properties.required_0000: found nothing, expected a value"},
		"both":        {"{" + strings.Join(members[:3], ",") + "}", "properties.other_0000: not in the tracking plan"},
	} {
		got := lines(Compile(plan).Check("page", nil, []byte(tt.text)))
		if len(got) != MaxFindings || got[0] != tt.first {
			t.Errorf("%s: %d findings: %v", name, len(got), got)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	many := make([]decode.Finding, 5)
	for i := range many {
		many[i] = decode.Finding{Path: "properties." + strings.Repeat("p", 40), Message: "not in the tracking plan"}
	}
	one := many[0].Path + ": " + many[0].Message
	for name, tt := range map[string]struct {
		findings []decode.Finding
		want     string
	}{
		"one":   {many[:1], one},
		"three": {many[:3], one + "; " + one + "; " + one},
		"five":  {many, one + "; " + one + "; " + one + "; and others"},
	} {
		got := summary(tt.findings)
		if diff := cmp.Diff(tt.want, got); diff != "" || len(got) > schemas.MaxDetailBytes {
			t.Errorf("%s, %d bytes (-want +got):\n%s", name, len(got), diff)
		}
	}
}

// TestConformingCallsCostNoMemory is what makes a plan affordable for every call.
func TestConformingCallsCostNoMemory(t *testing.T) {
	p, event, properties := Compile(shop()), []byte(`"Order Completed"`), []byte(usualOrder)
	if n := testing.AllocsPerRun(100, func() {
		if p.Check(schemas.TypeTrack, event, properties) != nil {
			t.Error("the order does not conform")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

const usualOrder = `{"order_id":"50314b8e9bcf000000000000","total":27.5,"items":2,"gift":false,"address":{"city":"Hamburg","street":"Große \"Elb\"straße 1"},` +
	`"products":[{"product_id":"507f1f77bcf86cd799439011","sku":"45790-32","name":"Monopoly: 3rd Edition","price":19,"quantity":1},` +
	`{"product_id":"505bd76785ebb509fc183733","sku":"46493-32","name":"Uno Card Game","price":3,"quantity":2}],"note":null}`

func BenchmarkCheck(b *testing.B) {
	usual, event := Compile(shop()), []byte(`"Order Completed"`)
	for name, c := range map[string]struct {
		plan       *Plan
		properties string
	}{
		"conforms": {usual, usualOrder},
		"violates": {usual, `{"order_id":7,"currency":"EUR"}`},
		"longest":  {Compile(longest()), "{" + strings.Join(numbered(3000), ",") + "}"},
	} {
		b.Run(name, func(b *testing.B) {
			text := []byte(c.properties)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				c.plan.Check(schemas.TypeTrack, event, text)
			}
		})
	}
}

// longest is a plan that wants more than a call can hold, and one thing that the
// calls of numbered don't have.
func longest() *workspace.TrackingPlan {
	properties := map[string]workspace.PlannedProperty{"z": {Required: true}}
	for i := range 3000 {
		properties[fmt.Sprintf("p%04d", i)] = workspace.PlannedProperty{Required: true}
	}
	return &workspace.TrackingPlan{Events: map[string]workspace.PlannedObject{"Order Completed": {Properties: properties, Closed: true}}}
}

func numbered(n int) []string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"p%04d":%d`, i, i%10)
	}
	return members
}

func BenchmarkCompile(b *testing.B) {
	plan := longest()
	b.ReportAllocs()
	for b.Loop() {
		Compile(plan)
	}
}

// TestNamesAreComparedAsTheyStandInCalls plans names that JSON escapes, under every
// spelling that a client may choose for them.
func TestNamesAreComparedAsTheyStandInCalls(t *testing.T) {
	t.Parallel()
	for name, spellings := range map[string][]string{
		`say "hi"`: {`"say \"hi\""`, `"say \u0022hi\u0022"`},
		`a\b`:      {`"a\\b"`, `"a\u005cb"`},
		"a/b":      {`"a/b"`, `"a\/b"`, `"\u0061/b"`},
		"größe":    {`"größe"`, `"gr\u00f6\u00DFe"`},
		"😀":        {`"😀"`, `"\ud83d\ude00"`},
	} {
		planned := workspace.PlannedObject{Properties: map[string]workspace.PlannedProperty{name: {Required: true}}, Closed: true}
		p := Compile(&workspace.TrackingPlan{Events: map[string]workspace.PlannedObject{name: planned}})
		for _, spelt := range spellings {
			event, err := stablejson.Append(nil, []byte(spelt))
			if err != nil {
				t.Fatal(err)
			}
			if found := p.Check("track", event, slices.Concat([]byte("{"), event, []byte(":1}"))); found != nil {
				t.Errorf("%s for %s: %v", spelt, name, found)
			}
		}
		if found := p.Check("track", []byte(`"other"`), nil); len(found) != 1 {
			t.Errorf("%s: another event is planned too", name)
		}
	}
}
