package schemas

import "embed"

//go:embed calls/*.json deliveries/*.json
var files embed.FS

// CallSchema returns the JSON Schema (2020-12) of a call of type t: what the
// collection API accepts, or, for delete, the notification on raw-events. Its
// $id is "urn:anabranch:schema:call:<type>". It is nil when t is none of the
// types.
func CallSchema(t Type) []byte { return schemaFile("calls/", t) }

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
