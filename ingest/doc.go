// Package ingest is the stage that takes calls in over HTTP: it serves the
// collection protocol that the SDKs speak, makes each call a record of
// raw-events, and answers only after the brokers have acknowledged it.
//
// A request goes through five steps:
//
//   - route.go, body.go: which endpoint, and the body, read up to its limit;
//   - auth.go: the write key, from wherever the SDK puts it;
//   - internal/decode, with internal/timestamp: the body is taken apart into
//     calls, and each that is good becomes an event in its one canonical form;
//   - internal/store: the events of the request are handed to the Kafka client,
//     all or none, and waited for together;
//   - internal/answer: the result is put into words.
//
// handler.go leads through them; metrics.go counts and refusals.go logs what came
// of each request.
//
// What is guaranteed: 200 means that every call that is not named in the answer
// is stored on all in-sync replicas; 503 claims nothing, and the SDK sends the
// same bytes with the same messageIds again. What a request that ended with 503
// has left in the client's buffer may still be stored later: calls are taken in
// at least once, and the messageId tells repetitions apart.
package ingest
