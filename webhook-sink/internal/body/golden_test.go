package body_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/body"
)

// golden is a file of testdata/golden: an event and the body it becomes, both
// byte for byte.
type golden struct {
	Name  string          `json:"-"`
	About string          `json:"about"`
	Event json.RawMessage `json:"event"`
	Body  json.RawMessage `json:"body"`
}

func goldens(tb testing.TB) []golden {
	tb.Helper()
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		tb.Fatalf("find golden files: %d, %v", len(files), err)
	}
	all := make([]golden, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		if err := json.Unmarshal(text, &all[i]); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		all[i].Name = strings.TrimSuffix(filepath.Base(file), ".json")
	}
	return all
}

// deliverySchema compiles the published schema of a type's body.
func deliverySchema(tb testing.TB, of schemas.Type) *jsonschema.Schema {
	tb.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas.DeliverySchema(of)))
	if err != nil {
		tb.Fatalf("schema of %s: %v", of, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("delivery.json", doc); err != nil {
		tb.Fatal(err)
	}
	return compiler.MustCompile("delivery.json")
}

// checkBody reports what is wrong with a body, whatever event it was made of.
func checkBody(tb testing.TB, text []byte) {
	tb.Helper()
	stable, err := stablejson.Append(nil, text)
	if err != nil {
		tb.Fatalf("body is not JSON: %v\n%s", err, text)
	}
	if !bytes.Equal(stable, text) {
		tb.Errorf("body is not stable:\n got %s\nwant %s", text, stable)
	}
	var head struct {
		Type schemas.Type `json:"type"`
	}
	if err = json.Unmarshal(text, &head); err != nil {
		tb.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	if err = deliverySchema(tb, head.Type).Validate(value); err != nil {
		tb.Errorf("body does not follow its schema: %v\n%s", err, text)
	}
}

func TestGoldenBodies(t *testing.T) {
	var builder body.Builder
	seen := make(map[schemas.Type]bool)
	for _, g := range goldens(t) {
		t.Run(g.Name, func(t *testing.T) {
			got, err := builder.Append(nil, g.Event)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(g.Body), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", g.About, diff)
			}
			checkBody(t, got)
			of, _, _ := strings.Cut(g.Name, "_")
			seen[schemas.Type(of)] = true
		})
	}
	if len(seen) != 7 {
		t.Errorf("types with golden files: %v, want all seven", seen)
	}
}
