package schemas_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anabranch/anabranch/schemas"
)

func TestSchemaFiles(t *testing.T) {
	t.Parallel()
	for kind, file := range map[string]func(schemas.Type) []byte{"call": schemas.CallSchema, "delivery": schemas.DeliverySchema} {
		for _, typ := range allTypes {
			t.Run(kind+"/"+string(typ), func(t *testing.T) {
				t.Parallel()
				compiled := compile(t, file(typ))
				schema := decode(t, file(typ))
				checkExamples(t, compiled, schema)
				if want := "urn:anabranch:schema:" + kind + ":" + string(typ); schema["$id"] != want {
					t.Errorf("$id = %v, want %s", schema["$id"], want)
				}
				if want := "https://json-schema.org/draft/2020-12/schema"; schema["$schema"] != want {
					t.Errorf("$schema = %v, want %s", schema["$schema"], want)
				}
				checkDescribed(t, schema)
			})
		}
		if got := file("nothing"); got != nil {
			t.Errorf("%s schema of an unknown type = %s, want nil", kind, got)
		}
	}
}

// The schema of a batch refers to those of the calls; it must do so without
// any of them being changed for it.
func TestBatchSchema(t *testing.T) {
	t.Parallel()
	schema := decode(t, schemas.BatchSchema())
	if want := batchID; schema["$id"] != want {
		t.Errorf("$id = %v, want %s", schema["$id"], want)
	}
	checkExamples(t, compileBatch(t, batchID), schema)
	checkDescribed(t, schema)
	call := compileBatch(t, batchID+"#/$defs/call")
	for _, typ := range allTypes[:6] {
		for _, example := range decode(t, schemas.CallSchema(typ))["examples"].([]any) {
			named := maps.Clone(example.(map[string]any))
			named["type"] = string(typ)
			if err := call.Validate(any(named)); err != nil {
				t.Errorf("#/$defs/call refuses the example of %s: %v", typ, err)
			}
			delete(named, "type")
			if call.Validate(any(named)) == nil {
				t.Errorf("#/$defs/call takes the example of %s without a type", typ)
			}
		}
	}
}

// The numbers in the schemas are those of limits.go.
func TestBatchSchemaBounds(t *testing.T) {
	t.Parallel()
	batch := compileBatch(t, batchID)
	good := map[string]any{"type": "identify", "userId": "u"}
	for size, valid := range map[int]bool{0: false, 1: true, schemas.MaxBatchEvents: true, schemas.MaxBatchEvents + 1: false} {
		calls := slices.Repeat([]any{good}, size)
		if err := batch.Validate(any(map[string]any{"batch": calls})); (err == nil) != valid {
			t.Errorf("%d calls: %v, want valid: %t", size, err, valid)
		}
	}
	for _, calls := range []any{nil, "x", map[string]any{}, []any{map[string]any{}}, []any{nil, 1, "x"}} {
		if batch.Validate(any(map[string]any{"batch": calls})) == nil {
			t.Errorf("batch %v: valid, want invalid", calls)
		}
	}
	if err := batch.Validate(any(map[string]any{"batch": []any{nil, good}})); err != nil {
		t.Errorf("one good call beside a bad one: %v, want valid", err)
	}
}

func checkExamples(t *testing.T, compiled *jsonschema.Schema, schema map[string]any) {
	t.Helper()
	examples, _ := schema["examples"].([]any)
	if len(examples) == 0 {
		t.Error("no examples")
	}
	for _, example := range examples {
		if err := compiled.Validate(example); err != nil {
			t.Errorf("example %v: %v", example, err)
		}
	}
}

func checkDescribed(t *testing.T, schema map[string]any) {
	t.Helper()
	if schema["title"] == nil || schema["description"] == nil {
		t.Error("no title or no description")
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		if text, _ := property.(map[string]any)["description"].(string); text == "" {
			t.Errorf("property %s has no description", name)
		}
	}
}

// typeList is a type that is one of several; one of them and null is no such list.
var typeList = regexp.MustCompile(`"type":\s*\[(?:[^\],]*,){2,}[^\]]*\]|"type":\s*\["[a-z]+",\s*"(?:[a-mo-z]|number)[a-z]*"\]`)

// Ajv in its strict mode refuses schemas that use these without plugins of its own, and
// lists of types without an option. `make schema-check` asks Ajv itself.
func TestNoStrictKeywords(t *testing.T) {
	t.Parallel()
	workspace, err := os.ReadFile("workspace.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	texts := [][]byte{schemas.BatchSchema(), workspace}
	for _, typ := range allTypes {
		texts = append(texts, schemas.CallSchema(typ), schemas.DeliverySchema(typ))
	}
	for _, text := range texts {
		for _, keyword := range []string{"format", "$anchor", "$dynamicAnchor"} {
			if bytes.Contains(text, []byte(`"`+keyword+`":`)) {
				t.Errorf("%v uses %s", decode(t, text)["$id"], keyword)
			}
		}
		if list := typeList.Find(text); list != nil {
			t.Errorf("%v: %s, expected anyOf with a schema for each", decode(t, text)["$id"], list)
		}
	}
}

// A file of no known type would be published and never tested.
func TestNoStraySchemaFiles(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"calls", "deliveries"} {
		entries, err := fs.ReadDir(os.DirFS("."), dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if _, ok := schemas.ParseType(strings.TrimSuffix(entry.Name(), ".json")); !ok {
				t.Errorf("%s/%s is the schema of no type", dir, entry.Name())
			}
		}
	}
}

func TestDeliverySchemasNameWhatGoTypesName(t *testing.T) {
	t.Parallel()
	for _, typ := range allTypes {
		checkNames(t, "delivery "+string(typ), decode(t, schemas.DeliverySchema(typ)), jsonNames(reflect.TypeOf(newDelivery(typ)).Elem()))
	}
}

// A call schema is of what the API accepts, its Go type of what ingest writes:
// the names are the same but for the write key, which is never stored, and for
// ids that mean nothing to the type. What is required differs: ingest fills in
// messageId and the time stamps.
func TestCallSchemasNameWhatGoTypesName(t *testing.T) {
	t.Parallel()
	for _, typ := range allTypes {
		schema := decode(t, schemas.CallSchema(typ))
		names := jsonNames(reflect.TypeOf(newCall(typ)).Elem())
		if typ == schemas.TypeDelete {
			checkNames(t, "call delete", schema, names)
			continue
		}
		got := propertyNames(schema)
		want := append(slices.Collect(maps.Keys(names)), "writeKey", "groupId", "previousId")
		slices.Sort(want)
		if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
			t.Errorf("call %s (-Go type +schema):\n%s", typ, diff)
		}
	}
}

// What all calls have in common is written out in each file, so that each
// stands alone; it must not come apart. Only alias asks more of its userId, and
// the ids that group and alias are about are those of no other.
func TestCallSchemasAgreeOnWhatTheyShare(t *testing.T) {
	t.Parallel()
	shared := []string{"messageId", "userId", "anonymousId", "groupId", "previousId", "timestamp", "originalTimestamp", "sentAt", "receivedAt", "context", "integrations", "writeKey"}
	first := decode(t, schemas.CallSchema(allTypes[0]))
	for _, typ := range allTypes[1:6] {
		schema := decode(t, schemas.CallSchema(typ))
		for _, name := range shared {
			if typ == schemas.TypeAlias && (name == "userId" || name == "previousId") || typ == schemas.TypeGroup && name == "groupId" {
				continue
			}
			if diff := cmp.Diff(first["properties"].(map[string]any)[name], schema["properties"].(map[string]any)[name]); diff != "" {
				t.Errorf("%s of %s (-%s +%s):\n%s", name, typ, allTypes[0], typ, diff)
			}
		}
		definitions := schema["$defs"].(map[string]any)
		for name, definition := range first["$defs"].(map[string]any) {
			if diff := cmp.Diff(definition, definitions[name]); definitions[name] != nil && diff != "" {
				t.Errorf("$defs/%s of %s (-%s +%s):\n%s", name, typ, allTypes[0], typ, diff)
			}
		}
	}
}

func propertyNames(schema map[string]any) []string {
	properties, _ := schema["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// checkNames compares names and what is required of them: a Go field without
// omitempty or omitzero is always sent.
func checkNames(t *testing.T, what string, schema map[string]any, names map[string]bool) {
	t.Helper()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(names)), propertyNames(schema)); diff != "" {
		t.Errorf("%s: names (-Go type +schema):\n%s", what, diff)
	}
	required := make(map[string]bool)
	list, _ := schema["required"].([]any)
	for _, name := range list {
		required[name.(string)] = true
	}
	for name, always := range names {
		if always != required[name] {
			t.Errorf("%s: %s is always sent by the Go type: %t, required by the schema: %t", what, name, always, required[name])
		}
	}
}

// jsonNames returns the JSON names of a struct's fields and whether each is
// always sent.
func jsonNames(typ reflect.Type) map[string]bool {
	names := make(map[string]bool)
	for _, field := range reflect.VisibleFields(typ) {
		if field.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		names[name] = options == ""
	}
	return names
}

// The README says of each code which keyword fails; package decode has the test
// that it is so.
func TestReadmeNamesCodesAndLimits(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	for _, code := range schemas.Codes() {
		if !strings.Contains(readme, "`"+string(code)+"`") {
			t.Errorf("README does not name %s", code)
		}
	}
	for what, number := range map[string]string{
		"MaxCallBytes":         fmt.Sprintf("%d,%03d bytes", schemas.MaxCallBytes/1000, schemas.MaxCallBytes%1000),
		"MaxBatchBytes":        fmt.Sprintf("a batch %d,%03d ", schemas.MaxBatchBytes/1000, schemas.MaxBatchBytes%1000),
		"MaxDepth":             fmt.Sprintf("at most %d deep", schemas.MaxDepth),
		"MaxIntegrationsBytes": fmt.Sprintf("white space, has at most %d,%03d bytes", schemas.MaxIntegrationsBytes/1000, schemas.MaxIntegrationsBytes%1000),
	} {
		if !strings.Contains(readme, number) {
			t.Errorf("README does not give %s as %q", what, number)
		}
	}
}
