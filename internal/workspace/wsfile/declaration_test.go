package wsfile

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
	"github.com/anabranch/anabranch/internal/workspace/internal/wsrecord"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/internal/workspace/wsschema"
	"github.com/anabranch/anabranch/schemas"
)

// audience is a kind that the product does not have, with all that one may consist of.
type audience struct {
	ID     string            `file:"id" record:"-" rule:"id" unique:"an id" desc:"its name"`
	Window time.Duration     `file:"window" default:"24h" min:"1h" max:"720h" desc:"how far back it looks"`
	Least  int               `file:"least" record:"atLeast" default:"1" min:"1" max:"100" desc:"how many conditions hold"`
	Any    []condition       `file:"any" items:"1-2" each:"a condition" desc:"what is asked"`
	Limits map[string]limits `file:"limits,optional" keys:"plannedName" desc:"bounds by trait"`
	Token  schemas.Secret    `file:"token,optional" rule:"secret" desc:"opens it"`
}

type condition struct {
	Event string        `file:"event" rule:"plannedName" unique:"an event" desc:"what was done"`
	Wait  time.Duration `file:"wait,optional" desc:"how long after"`
	Where *limits       `file:"where,optional" desc:"with what"`
}

type limits struct {
	From int  `file:"from,optional" desc:"the least"`
	Open bool `file:"closed,optional,not" record:"open" desc:"whether it ends"`
}

// declared returns the shape of a document with one section of a kind.
func declared(kindOf reflect.Type) *kind.Shape {
	return kind.Of(reflect.StructOf([]reflect.StructField{{
		Name: "Audiences", Type: reflect.SliceOf(kindOf), Tag: `file:"audiences" kind:"audience" each:"an audience" desc:"who"`,
	}}))
}

// withColor returns the type audience with one field more.
func withColor() reflect.Type {
	fields := reflect.VisibleFields(reflect.TypeFor[audience]())
	return reflect.StructOf(append(fields, reflect.StructField{
		Name: "Color", Type: reflect.TypeFor[string](), Tag: `file:"color" default:"red" enum:"red blue" desc:"of its button"`,
	}))
}

const audiences = `audiences:
  - id: buyers
    any:
      - {event: Order Completed, wait: 30m, where: {from: -5, closed: false}}
    limits: {total: {closed: true}}
    token: {env: CRM_SECRET}
  - {id: all, window: 1h, least: 2, any: [{event: a}, {event: b}]}
`

// section reads a file of audiences and returns them.
func section(t *testing.T, s *kind.Shape, text string) reflect.Value {
	t.Helper()
	doc := reflect.New(s.Type)
	if err := read("conf/workspace.yaml", []byte(text), lookup(), s, doc.Interface()); err != nil {
		t.Fatal(err)
	}
	return doc.Elem().Field(0)
}

func TestAKindIsDeclaredOnce(t *testing.T) {
	t.Parallel()
	s := declared(reflect.TypeFor[audience]())
	got := section(t, s, audiences)
	want := []audience{
		{
			ID: "buyers", Window: 24 * time.Hour, Least: 1, Token: wstest.Canary, Limits: map[string]limits{"total": {}},
			Any: []condition{{Event: "Order Completed", Wait: 30 * time.Minute, Where: &limits{From: -5, Open: true}}},
		},
		{ID: "all", Window: time.Hour, Least: 2, Any: []condition{{Event: "a"}, {Event: "b"}}},
	}
	if !reflect.DeepEqual(got.Interface(), want) {
		t.Errorf("from the file: %+v", got)
	}
	record, err := wsrecord.Write(s.Fields[0].Elem, got.Index(0))
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"window":"24h","atLeast":1,"any":[{"event":"Order Completed","wait":"30m","where":{"from":-5,"open":true}}],"limits":{"total":{}},"token":"` + wstest.Canary + `"}`
	if diff := cmp.Diff(text, string(record)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	back := audience{ID: "buyers"}
	if unknown, err := wsrecord.Read(s.Fields[0].Elem, record, &back); err != nil || unknown || !reflect.DeepEqual(back, want[0]) {
		t.Errorf("from the record: %+v, %t, %v", back, unknown, err)
	}
}

func TestMistakesInEachForm(t *testing.T) {
	t.Parallel()
	s := declared(reflect.TypeFor[audience]())
	text := `audiences:
  - {id: a, window: 1 day, least: none, any: [], limits: {total: {from: 1.5, colour: red}}, token: [` + wstest.Canary + `]}
  - {id: a, window: 20m, least: 101, any: [{event: e, wait: soon}, {event: e, where: all}, {}]}
`
	err := read("f", []byte(text), lookup(), s, reflect.New(s.Type).Interface())
	want := []string{
		`f:2: audiences[0].window: "1 day": expected a duration such as 30m or 24h, 1h to 720h`,
		`f:2: audiences[0].least: "none": expected a whole number, 1 to 100`,
		`f:2: audiences[0].any: 0 any: expected 1 to 2 any`,
		`f:2: audiences[0].limits.total.colour: unknown key: expected one of from, closed`,
		`f:2: audiences[0].limits.total.from: "1.5": expected a whole number`,
		`f:2: audiences[0].token: a list: expected text, {env: NAME} or {file: PATH}`,
		`f:3: audiences[1].id: "a": expected an id of its own; line 2 has the same`,
		`f:3: audiences[1].window: "20m": expected a duration such as 30m or 24h, 1h to 720h`,
		`f:3: audiences[1].least: "101": expected a whole number, 1 to 100`,
		`f:3: audiences[1].any[0].wait: "soon": expected a duration such as 30m or 24h`,
		`f:3: audiences[1].any[1].event: "e": expected an event of its own; line 3 has the same`,
		`f:3: audiences[1].any[1].where: text: expected a mapping with the keys from and closed`,
		`f:3: audiences[1].any[2].event: missing: expected a name`,
		`f:3: audiences[1].any: 3 any: expected 1 to 2 any`,
	}
	if err == nil {
		t.Fatal("no mistakes")
	}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAFieldIsDeclaredOnce: file, record, difference, schema and reference follow from
// the one line that declares it.
func TestAFieldIsDeclaredOnce(t *testing.T) {
	t.Parallel()
	before, after := declared(reflect.TypeFor[audience]()), declared(withColor())
	blue := strings.Replace(audiences, "    any:\n", "    color: blue\n    any:\n", 1)
	if err := read("f", []byte(blue), lookup(), before, reflect.New(before.Type).Interface()); err == nil || !strings.Contains(err.Error(), "f:3: audiences[0].color: unknown key") {
		t.Errorf("before: %v", err)
	}
	pink := strings.Replace(blue, "blue", "pink", 1)
	if err := read("f", []byte(pink), lookup(), after, reflect.New(after.Type).Interface()); err == nil || err.Error() != `f:3: audiences[0].color: "pink": expected one of red, blue` {
		t.Errorf("after: %v", err)
	}
	was, is := section(t, after, audiences).Index(0), section(t, after, blue).Index(0)
	if was.FieldByName("Color").String() != "red" || is.FieldByName("Color").String() != "blue" {
		t.Errorf("from the file: %v, %v", was, is)
	}
	shape := after.Fields[0].Elem
	if got := shape.Differences(was, is); !slices.Equal(got, []string{"color"}) {
		t.Errorf("difference: %v", got)
	}
	record, err := wsrecord.Write(shape, is)
	if err != nil || !strings.HasSuffix(string(record), `,"color":"blue"}`) {
		t.Errorf("record: %s, %v", record, err)
	}
	checkReleases(t, before.Fields[0].Elem, shape, record)
	checkDescribed(t, before, after)
}

// checkReleases lets each release read the other's records.
func checkReleases(t *testing.T, before, after *kind.Shape, record []byte) {
	t.Helper()
	if unknown, err := wsrecord.Read(before, record, new(audience)); err != nil || !unknown {
		t.Errorf("the release before reads %s: %t, %v", record, unknown, err)
	}
	without := strings.Replace(string(record), `,"color":"blue"`, "", 1)
	later := reflect.New(after.Type)
	if unknown, err := wsrecord.Read(after, []byte(without), later.Interface()); err != nil || unknown || later.Elem().FieldByName("Color").String() != "red" {
		t.Errorf("the release after reads %s: %t, %v", without, unknown, err)
	}
}

// checkDescribed wants the color in the schema and the reference of one alone.
func checkDescribed(t *testing.T, before, after *kind.Shape) {
	t.Helper()
	for s, want := range map[*kind.Shape]bool{before: false, after: true} {
		schema, err := wsschema.SchemaOf(s, "Audiences", "")
		if err != nil || bytes.Contains(schema, []byte(`"color": {`)) != want || bytes.Contains(schema, []byte(`"default": "red"`)) != want {
			t.Errorf("schema: %v\n%s", err, schema)
		}
		var reference bytes.Buffer
		if err := wsschema.WriteReferenceOf(&reference, s); err != nil || strings.Contains(reference.String(), "of its button (one of red, blue)") != want {
			t.Errorf("reference: %v\n%s", err, &reference)
		}
	}
}
