// Package schemas is what the stages of Anabranch, and those who receive its
// webhooks, agree on: the types of call, the bodies of deliveries, the headers
// of records, the names of topics, the reasons of failures and the rules a call
// must meet. It decides nothing about transport and knows no stage.
//
// A receiver of webhooks written in Go looks at the key "type" of a body and
// decodes it into one of the seven delivery types ([IdentifyDelivery],
// [TrackDelivery], …). The same shapes stand as JSON Schema 2020-12 in deliveries/,
// embedded as [DeliverySchema].
//
// What a client may send is in calls/ and batch.json ([CallSchema],
// [BatchSchema]). What is validated is one call as it was sent, parsed as
// ECMAScript parses JSON: the last of duplicate keys counts, and a number beyond
// float64 is null. On every such text the schemas say what the collection API
// does, but for the limits that no schema can say, which the README lists beside
// the codes of refusals. Shared vectors in testdata/ hold schemas and Go types to
// one another; generated calls hold them to what ingest accepts and to what the
// webhook sink sends.
//
// The package imports the standard library alone.
//
// # Non-obvious
//
//   - [ParseHeaders] must stay cheap enough to be inlined (budget 80), or its decoder
//     escapes to the heap (TestHeadersAllocations).
//   - A published schema uses no format and no $anchor: Ajv in its strict mode refuses
//     schemas with them (TestNoStrictKeywords).
package schemas
