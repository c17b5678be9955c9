package member

import (
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// parse returns a text as an object.
func parse(t *testing.T, text string) *stablejson.Object {
	t.Helper()
	o := new(stablejson.Object)
	if err := o.Parse([]byte(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

func TestValues(t *testing.T) {
	for value, want := range map[string]struct {
		shape schemas.Shape
		call  schemas.Type
		id    string
		ok    bool
	}{
		``:              {schemas.ShapeAbsent, "", "", true},
		`null`:          {schemas.ShapeNull, "", "", true},
		`true`:          {schemas.ShapeBool, "", "", false},
		`-1.5`:          {schemas.ShapeNumber, "", `"-1.5"`, true},
		`""`:            {schemas.ShapeString, "", "", true},
		`"track"`:       {schemas.ShapeString, schemas.TypeTrack, `"track"`, true},
		`"tra\"k"`:      {schemas.ShapeString, `tra"k`, `"tra\"k"`, true},
		`["track"]`:     {schemas.ShapeArray, "", "", false},
		`{"track":"t"}`: {schemas.ShapeObject, "", "", false},
	} {
		id, ok := ID([]byte(value), []byte("left behind"))
		if Shape([]byte(value)) != want.shape || Type([]byte(value)) != want.call || string(id) != want.id || ok != want.ok {
			t.Errorf("%s: got %v, %q, %s %v", value, Shape([]byte(value)), Type([]byte(value)), id, ok)
		}
	}
}

func TestAppendText(t *testing.T) {
	for value, want := range map[string]string{`""`: "<", `"a"`: "<a", `"a\"\n"`: "<a\"\n", "\"\u2028\"": "<\u2028"} {
		if got := AppendText([]byte("<"), []byte(value)); string(got) != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}

func TestEvenMap(t *testing.T) {
	for text, want := range map[string]struct {
		shape schemas.Shape
		after string
	}{
		`{}`:          {schemas.ShapeAbsent, `{}`},
		`{"m":null}`:  {schemas.ShapeAbsent, `{}`},
		`{"m":[]}`:    {schemas.ShapeObject, `{"m":{}}`},
		`{"m":[[]]}`:  {schemas.ShapeArray, `{"m":[[]]}`},
		`{"m":{}}`:    {schemas.ShapeObject, `{"m":{}}`},
		`{"m":"[]"}`:  {schemas.ShapeString, `{"m":"[]"}`},
		`{"m":false}`: {schemas.ShapeBool, `{"m":false}`},
	} {
		o := parse(t, text)
		if shape := EvenMap(o, "m"); shape != want.shape || string(o.Append(nil)) != want.after {
			t.Errorf("%s: got %v, %s", text, shape, o.Append(nil))
		}
	}
}
