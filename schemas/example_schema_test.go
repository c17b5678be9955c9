package schemas_test

import (
	"bytes"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anabranch/anabranch/schemas"
)

// A client checks a batch before it is sent. Any validator of JSON Schema 2020-12
// does; the schemas refer to one another by their $id alone.
func ExampleBatchSchema() {
	compiler := jsonschema.NewCompiler()
	for _, text := range [][]byte{
		schemas.BatchSchema(),
		schemas.CallSchema(schemas.TypeIdentify), schemas.CallSchema(schemas.TypeTrack), schemas.CallSchema(schemas.TypePage),
		schemas.CallSchema(schemas.TypeScreen), schemas.CallSchema(schemas.TypeGroup), schemas.CallSchema(schemas.TypeAlias),
	} {
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			fmt.Println("decode schema:", err)
			return
		}
		id, _ := schema.(map[string]any)["$id"].(string)
		if err = compiler.AddResource(id, schema); err != nil {
			fmt.Println("add schema:", err)
			return
		}
	}
	call := compiler.MustCompile("urn:anabranch:schema:batch#/$defs/call")

	body, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(`{"batch":[
		{"type":"track","userId":7,"event":"Signed Up","properties":[]},
		{"type":"track","userId":"","event":"Signed Up"},
		{"type":"group","anonymousId":"a-17"}
	]}`)))
	if err != nil {
		fmt.Println("decode batch:", err)
		return
	}
	batch, _ := body.(map[string]any)["batch"].([]any)
	for i, value := range batch {
		fmt.Println(i, call.Validate(value) == nil)
	}
	// Output:
	// 0 true
	// 1 false
	// 2 false
}
