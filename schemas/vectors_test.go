package schemas_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anabranch/anabranch/schemas"
)

// allTypes is written out, so that a type added to the package and forgotten in
// calls/, deliveries/ or testdata/ is noticed here.
var allTypes = []schemas.Type{
	schemas.TypeIdentify,
	schemas.TypeTrack,
	schemas.TypePage,
	schemas.TypeScreen,
	schemas.TypeGroup,
	schemas.TypeAlias,
	schemas.TypeDelete,
}

// vector is one file of testdata. Its name is <type>.<kind>.<rest>.json.
type vector struct {
	name string
	typ  schemas.Type // whose schema it is held against
	kind string
	rest string
	text []byte
}

func vectors(t *testing.T, dir string) []vector {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("list vectors of %s: %d found, error %v", dir, len(paths), err)
	}
	all := make([]vector, len(paths))
	for i, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		parts := strings.SplitN(name, ".", 3)
		typ, known := schemas.ParseType(parts[0])
		if len(parts) != 3 || !known {
			t.Fatalf("vector %s: expected <type>.<kind>.<rest>.json", path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = vector{name: name, typ: typ, kind: parts[1], rest: parts[2], text: text}
	}
	return all
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return object
}

const batchID = "urn:anabranch:schema:batch"

// compile compiles the schema with nothing else at hand: each file stands alone.
// Compiling holds it against the meta-schema that it names.
func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	compiler := newCompiler()
	return compileID(t, compiler, addSchema(t, compiler, text))
}

// compileBatch compiles what id names in the schema of a batch.
func compileBatch(t *testing.T, id string) *jsonschema.Schema {
	t.Helper()
	compiler := newCompiler()
	addSchema(t, compiler, schemas.BatchSchema())
	for _, typ := range allTypes[:6] {
		addSchema(t, compiler, schemas.CallSchema(typ))
	}
	return compileID(t, compiler, id)
}

// newCompiler returns a compiler that loads nothing by itself.
func newCompiler() *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	return compiler
}

func addSchema(t *testing.T, compiler *jsonschema.Compiler, text []byte) (id string) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("decode schema: %v", err)
	}
	id, _ = document.(map[string]any)["$id"].(string)
	if err = compiler.AddResource(id, document); err != nil {
		t.Fatalf("add schema %q: %v", id, err)
	}
	return id
}

func compileID(t *testing.T, compiler *jsonschema.Compiler, id string) *jsonschema.Schema {
	t.Helper()
	schema, err := compiler.Compile(id)
	if err != nil {
		t.Fatalf("compile schema %q: %v", id, err)
	}
	return schema
}

func compileAll(t *testing.T, file func(schemas.Type) []byte) map[schemas.Type]*jsonschema.Schema {
	t.Helper()
	compiled := make(map[schemas.Type]*jsonschema.Schema)
	for _, typ := range allTypes {
		compiled[typ] = compile(t, file(typ))
	}
	return compiled
}

// checkGoType decodes text into the new value strictly and expects the same JSON back.
func checkGoType(t *testing.T, text []byte, value any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		t.Fatalf("decode into %T: %v", value, err)
	}
	again, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("encode %T: %v", value, err)
	}
	if diff := cmp.Diff(decode(t, text), decode(t, again)); diff != "" {
		t.Errorf("%T does not encode what it decoded (-vector +encoded):\n%s", value, diff)
	}
}
