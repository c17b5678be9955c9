package wsschema

import (
	"bytes"
	"flag"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

var update = flag.Bool("update", false, "write the schema and the reference anew")

// TestThePublishedSchemaIsOfTheDeclaration, as it is now.
func TestThePublishedSchemaIsOfTheDeclaration(t *testing.T) {
	t.Parallel()
	got, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "../../../schemas/workspace.schema.json", got, *update)
}

func TestReference(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := WriteReference(&out); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/reference.txt", out.Bytes(), *update)
}
