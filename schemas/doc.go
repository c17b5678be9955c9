// Package schemas is what the stages of Anabranch, and those who receive its
// webhooks, agree on: the types of call, the bodies of deliveries, the headers
// of records, the names of topics, the reasons of failures and the rules a call
// must meet. It decides nothing about transport and knows no stage.
//
// A receiver of webhooks written in Go looks at the key "type" of a body and
// decodes it into one of the seven delivery types ([IdentifyDelivery],
// [TrackDelivery], …). The same shapes stand as JSON Schema 2020-12 in calls/ and
// deliveries/, embedded as [CallSchema] and [DeliverySchema]; shared vectors in
// testdata/ hold schemas and Go types to one another.
//
// The package imports the standard library alone.
package schemas
