// Package ingest is the stage that takes calls in over HTTP: it serves the
// collection protocol that the SDKs speak, makes each call a record of
// raw-events, and answers only after the brokers have acknowledged it.
//
// A request goes through these steps:
//
//   - internal/cors: a browser is told that the page may send it, and may read the
//     answer;
//   - route.go: which endpoint;
//   - internal/writekey: the key, from wherever the SDK puts it, and
//     internal/limit: not too many wrong ones from one address, which
//     internal/peer finds;
//   - internal/body: the body, read and decompressed up to its limit;
//   - internal/decode, with internal/timestamp: the body is taken apart into
//     calls, and each that is good becomes an event in its one canonical form,
//     unless the source's plan (internal/plan) blocks it or its user is suppressed;
//   - internal/store: the events of the request are handed to the Kafka client,
//     all or none, and waited for together;
//   - internal/answer: the result is put into words, and internal/report counts
//     and logs it.
//
// handler.go leads through them. Beside it, regulations.go is the service that
// takes in deletion requests.
//
// What is guaranteed: 200 means that every call that is not named in the answer
// is stored on all in-sync replicas, or that its user is suppressed; 503 and 429
// claim nothing, and the SDK sends the same bytes with the same messageIds again.
// What a request that ended with 503 has left in the client's buffer may still be
// stored later: calls are taken in at least once, and the messageId tells
// repetitions apart.
package ingest
