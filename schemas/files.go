package schemas

import "embed"

var (
	//go:embed calls/*.json deliveries/*.json
	files embed.FS
	//go:embed batch.json
	batch string
)

// CallSchema returns the JSON Schema (2020-12) of a call of type t: what the
// collection API accepts, but for the limits that the README lists, or, for
// delete, the notification on raw-events. Its $id is
// "urn:anabranch:schema:call:<type>". It is nil when t is none of the types.
func CallSchema(t Type) []byte { return schemaFile("calls/", t) }

// BatchSchema returns the JSON Schema (2020-12) of the body of a batch request.
// Its $id is "urn:anabranch:schema:batch"; "urn:anabranch:schema:batch#/$defs/call" in
// it is the schema of one call of a batch, whatever its type. Both refer to the
// schemas of the six calls by their $id, so a validator has to be given those too.
func BatchSchema() []byte { return []byte(batch) }

// DeliverySchema returns the JSON Schema (2020-12) of the body delivered for a
// call of type t: what a receiver of webhooks gets. Its $id is
// "urn:anabranch:schema:delivery:<type>". It is nil when t is none of the types.
func DeliverySchema(t Type) []byte { return schemaFile("deliveries/", t) }

func schemaFile(dir string, t Type) []byte {
	text, err := files.ReadFile(dir + string(t) + ".json")
	if err != nil {
		return nil // no such type: there is no other way for a file of an embedded tree to be missing
	}
	return text
}
