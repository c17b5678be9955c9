package schemas_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

// outlineCodes are the codes that Validate itself gives.
var outlineCodes = []schemas.Code{
	schemas.CodeTypeUnknown,
	schemas.CodeNoUserAnonID,
	schemas.CodeIDRequired,
	schemas.CodeEventNotDefined,
	schemas.CodeEventNotString,
	schemas.CodeNameNotString,
	schemas.CodePropertiesNotObject,
	schemas.CodeTraitsNotObject,
}

var shapes = []schemas.Shape{
	schemas.ShapeAbsent,
	schemas.ShapeNull,
	schemas.ShapeBool,
	schemas.ShapeNumber,
	schemas.ShapeString,
	schemas.ShapeArray,
	schemas.ShapeObject,
}

// complete returns an outline of typ that breaks no rule.
func complete(typ schemas.Type) schemas.Outline {
	return schemas.Outline{Type: typ, UserID: "u", GroupID: "g", PreviousID: "p", Event: schemas.ShapeString}
}

func codeOf(o schemas.Outline) schemas.Code {
	if violation := o.Validate(); violation != nil {
		return violation.Code
	}
	return ""
}

// Which shape of which value each type bears, over every shape: the table is
// the whole rule, and a value that a type does not carry is never looked at.
func TestValidateShapes(t *testing.T) {
	t.Parallel()
	bearsObject := []schemas.Shape{schemas.ShapeAbsent, schemas.ShapeNull, schemas.ShapeObject}
	bearsName := []schemas.Shape{schemas.ShapeAbsent, schemas.ShapeNull, schemas.ShapeString}
	fields := map[string]struct {
		set   func(*schemas.Outline, schemas.Shape)
		types []schemas.Type
		bears []schemas.Shape
		code  schemas.Code
	}{
		"traits": {
			set:   func(o *schemas.Outline, s schemas.Shape) { o.Traits = s },
			types: []schemas.Type{schemas.TypeIdentify, schemas.TypeGroup},
			bears: bearsObject,
			code:  schemas.CodeTraitsNotObject,
		},
		"properties": {
			set:   func(o *schemas.Outline, s schemas.Shape) { o.Properties = s },
			types: []schemas.Type{schemas.TypeTrack, schemas.TypePage, schemas.TypeScreen},
			bears: bearsObject,
			code:  schemas.CodePropertiesNotObject,
		},
		"name": {
			set:   func(o *schemas.Outline, s schemas.Shape) { o.Name = s },
			types: []schemas.Type{schemas.TypePage, schemas.TypeScreen},
			bears: bearsName,
			code:  schemas.CodeNameNotString,
		},
	}
	for name, field := range fields {
		for _, typ := range allTypes[:6] {
			for _, shape := range shapes {
				o := complete(typ)
				field.set(&o, shape)
				var want schemas.Code
				if slices.Contains(field.types, typ) && !slices.Contains(field.bears, shape) {
					want = field.code
				}
				if got := codeOf(o); got != want {
					t.Errorf("%s with %v for %s: code %q, want %q", typ, shape, name, got, want)
				}
			}
		}
	}
}

func TestValidateEvent(t *testing.T) {
	t.Parallel()
	for _, typ := range allTypes[:6] {
		for _, shape := range shapes {
			for _, empty := range []bool{false, true} {
				if empty && shape != schemas.ShapeString {
					continue
				}
				o := complete(typ)
				o.Event, o.EventEmpty = shape, empty
				var want schemas.Code
				switch {
				case typ != schemas.TypeTrack:
				case shape == schemas.ShapeAbsent || shape == schemas.ShapeNull || empty:
					want = schemas.CodeEventNotDefined
				case shape != schemas.ShapeString:
					want = schemas.CodeEventNotString
				}
				if got := codeOf(o); got != want {
					t.Errorf("%s with %v for event (empty: %t): code %q, want %q", typ, shape, empty, got, want)
				}
			}
		}
	}
}

// Every combination of the four ids, for every type.
func TestValidateIDs(t *testing.T) {
	t.Parallel()
	pick := func(bits, bit int) string {
		if bits&bit != 0 {
			return "id"
		}
		return ""
	}
	for _, typ := range allTypes[:6] {
		for bits := range 16 {
			o := complete(typ)
			o.UserID, o.AnonymousID = pick(bits, 1), pick(bits, 2)
			o.GroupID, o.PreviousID = pick(bits, 4), pick(bits, 8)
			if got, want := codeOf(o), wantIDCode(&o); got != want {
				t.Errorf("%+v: code %q, want %q", o, got, want)
			}
		}
	}
}

func wantIDCode(o *schemas.Outline) schemas.Code {
	somebody := o.UserID != "" || o.AnonymousID != ""
	switch {
	case o.Type == schemas.TypeAlias && (o.UserID == "" || o.PreviousID == ""):
		return schemas.CodeIDRequired
	case o.Type != schemas.TypeAlias && !somebody:
		return schemas.CodeNoUserAnonID
	case o.Type == schemas.TypeGroup && o.GroupID == "":
		return schemas.CodeIDRequired
	default:
		return ""
	}
}

func TestValidateType(t *testing.T) {
	t.Parallel()
	for typ, found := range map[schemas.Type]string{
		"":                                      "no type",
		"delete":                                `type "delete"`,
		"Track":                                 `type "Track"`,
		"t":                                     `type "t"`,
		schemas.Type(strings.Repeat("é", 9999)): `type "` + strings.Repeat("é", 16) + `"…`,
	} {
		o := complete(typ)
		want := "type_unknown: found " + found + ", expected one of identify, track, page, screen, group, alias"
		if got := o.Validate(); got == nil || got.Error() != want {
			t.Errorf("Validate of type %.20q = %v, want %s", typ, got, want)
		}
	}
}

func TestViolationMessages(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]schemas.Outline{
		"no_user_anon_id: identify: found neither, expected a userId or an anonymousId":    {Type: schemas.TypeIdentify},
		"id_required: group: found no groupId, expected a string that is not empty":        {Type: schemas.TypeGroup, UserID: "u"},
		"id_required: alias: found no previousId, expected a string that is not empty":     {Type: schemas.TypeAlias},
		"id_required: alias: found no userId, expected a string that is not empty":         {Type: schemas.TypeAlias, PreviousID: "p", AnonymousID: "a"},
		"event_not_defined: track: found nothing for event, expected its name":             {Type: schemas.TypeTrack, UserID: "u"},
		"event_not_defined: track: found null for event, expected its name":                {Type: schemas.TypeTrack, UserID: "u", Event: schemas.ShapeNull},
		"event_not_defined: track: found an empty string for event, expected its name":     {Type: schemas.TypeTrack, UserID: "u", Event: schemas.ShapeString, EventEmpty: true},
		"event_not_string: track: found a number for event, expected a string":             {Type: schemas.TypeTrack, UserID: "u", Event: schemas.ShapeNumber},
		"name_not_string: page: found a boolean for name, expected a string":               {Type: schemas.TypePage, UserID: "u", Name: schemas.ShapeBool},
		"properties_not_object: screen: found an array for properties, expected an object": {Type: schemas.TypeScreen, UserID: "u", Properties: schemas.ShapeArray},
		"traits_not_object: group: found a string for traits, expected an object":          {Type: schemas.TypeGroup, UserID: "u", GroupID: "g", Traits: schemas.ShapeString},
	} {
		if got := o.Validate(); got == nil || got.Error() != want {
			t.Errorf("Validate(%+v)\n got %v\nwant %s", o, got, want)
		}
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	codes := schemas.Codes()
	if len(codes) != 12 {
		t.Errorf("%d codes, want the 12 of the protocol", len(codes))
	}
	for _, code := range outlineCodes {
		if !slices.Contains(codes, code) {
			t.Errorf("Codes() lacks %s", code)
		}
	}
}

func TestShapeNames(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, shape := range append(shapes, schemas.ShapeObject+1) {
		if name := shape.String(); name == "" || seen[name] {
			t.Errorf("Shape(%d) = %q, want a name of its own", shape, name)
		}
		seen[shape.String()] = true
	}
}

func BenchmarkValidate(b *testing.B) {
	o := complete(schemas.TypeTrack)
	b.ReportAllocs()
	for b.Loop() {
		if o.Validate() != nil {
			b.Fatal("refused")
		}
	}
}
