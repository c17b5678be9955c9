package schemas_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

func newCall(typ schemas.Type) any {
	switch typ {
	case schemas.TypeIdentify:
		return new(identifyCall)
	case schemas.TypeTrack:
		return new(trackCall)
	case schemas.TypePage:
		return new(pageCall)
	case schemas.TypeScreen:
		return new(screenCall)
	case schemas.TypeGroup:
		return new(groupCall)
	case schemas.TypeAlias:
		return new(aliasCall)
	case schemas.TypeDelete:
		return new(deleteCall)
	default:
		return nil
	}
}

// Three kinds of vector: what SDKs and people send and the API accepts
// (recorded from four SDKs, or made for one rule); what stands on raw-events,
// which the API would accept too; and what is refused, with the code, or with
// "schema" where no rule of Validate is concerned.
func TestCallVectors(t *testing.T) {
	t.Parallel()
	compiled := compileAll(t, schemas.CallSchema)
	inBatch := compileBatch(t, batchID+"#/$defs/call")
	for _, v := range vectors(t, "calls") {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			schema := compiled[v.typ]
			if strings.HasPrefix(v.rest, string(schemas.CodeTypeUnknown)) {
				schema = inBatch // a single call has its type from its path
			}
			invalid := schema.Validate(any(decode(t, v.text)))
			violation := outlineOf(v.typ, decode(t, v.text)).Validate()
			switch v.kind {
			case "accepted":
				checkAccepted(t, invalid, violation)
			case "canonical":
				checkGoType(t, v.text, newCall(v.typ))
				if v.typ == schemas.TypeDelete {
					violation = nil // on raw-events, but not from the API
				}
				checkAccepted(t, invalid, violation)
			case "refused":
				checkRefused(t, v, invalid, violation)
			default:
				t.Fatalf("unknown kind %q", v.kind)
			}
		})
	}
}

func checkAccepted(t *testing.T, invalid error, violation *schemas.Violation) {
	t.Helper()
	if invalid != nil {
		t.Errorf("schema: %v, want valid", invalid)
	}
	if violation != nil {
		t.Errorf("Validate = %v, want nil", violation)
	}
}

func checkRefused(t *testing.T, v vector, invalid error, violation *schemas.Violation) {
	t.Helper()
	if invalid == nil {
		t.Error("schema: valid, want invalid")
	}
	code, _, _ := strings.Cut(v.rest, ".")
	if code == "schema" {
		return
	}
	if violation == nil || string(violation.Code) != code {
		t.Errorf("Validate = %v, want code %s", violation, code)
	}
}

// Every type has vectors of each kind that makes sense for it, so that a
// deleted file does not pass for a test that holds.
func TestCallVectorsCover(t *testing.T) {
	t.Parallel()
	seen := make(map[string]int)
	codes := make(map[string]int)
	for _, v := range vectors(t, "calls") {
		seen[string(v.typ)+" "+v.kind]++
		code, _, _ := strings.Cut(v.rest, ".")
		codes[code]++
	}
	for _, typ := range allTypes {
		for _, kind := range []string{"accepted", "canonical", "refused"} {
			if typ == schemas.TypeDelete && kind == "accepted" {
				continue
			}
			if seen[string(typ)+" "+kind] == 0 {
				t.Errorf("no vector %s.%s.*", typ, kind)
			}
		}
	}
	for _, code := range outlineCodes {
		if codes[string(code)] == 0 {
			t.Errorf("no vector refused for %s", code)
		}
	}
}

// outlineOf is what ingest makes of a call that came by the path of typ.
func outlineOf(typ schemas.Type, call map[string]any) *schemas.Outline {
	o := &schemas.Outline{
		Type:        typ,
		UserID:      idOf(call["userId"]),
		AnonymousID: idOf(call["anonymousId"]),
		GroupID:     idOf(call["groupId"]),
		PreviousID:  idOf(call["previousId"]),
		Event:       shapeOf(call, "event"),
		EventEmpty:  call["event"] == "",
		Name:        shapeOf(call, "name"),
		Properties:  mapShapeOf(call, "properties"),
		Traits:      mapShapeOf(call, "traits"),
	}
	if own, ok := call["type"].(string); ok {
		o.Type = schemas.Type(own)
	}
	return o
}

func idOf(value any) string {
	if n, ok := value.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	s, _ := value.(string)
	return s
}

func mapShapeOf(call map[string]any, key string) schemas.Shape {
	if a, ok := call[key].([]any); ok && len(a) == 0 {
		return schemas.ShapeObject // PHP's empty map
	}
	return shapeOf(call, key)
}

func shapeOf(call map[string]any, key string) schemas.Shape {
	value, ok := call[key]
	if !ok {
		return schemas.ShapeAbsent
	}
	switch value.(type) {
	case nil:
		return schemas.ShapeNull
	case bool:
		return schemas.ShapeBool
	case float64:
		return schemas.ShapeNumber
	case string:
		return schemas.ShapeString
	case []any:
		return schemas.ShapeArray
	default:
		return schemas.ShapeObject
	}
}
