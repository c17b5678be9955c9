// Package ingest is the stage that takes calls in over HTTP: it serves the
// collection protocol that the SDKs speak, makes each call a record of
// raw-events, and answers only after the brokers have acknowledged it.
//
// A request goes through six steps, one file or two each:
//
//   - route.go, body.go: which endpoint, and the body, read up to its limit;
//   - auth.go: the write key, from wherever the SDK puts it;
//   - decode.go, deep.go: the body is walked, once, and taken apart into calls;
//   - event.go, press.go with id.go, merge.go, clock.go, timestamp.go: each call
//     is judged and completed on its own (ids made strings, the client's clock
//     corrected, the batch's context merged) and its one canonical form written;
//   - records.go, room.go, produce.go: all records of the request are handed to
//     the client, or none, and waited for together.
//
// handler.go leads through them and answer.go puts the result into words.
// probe.go and link.go know whether the brokers answer, so that a request need
// not wait to find out.
//
// What is guaranteed: 200 means that every call that is not named in the answer
// is stored on all in-sync replicas; 503 claims nothing, and the SDK sends the
// same bytes with the same messageIds again. What a request that ended with 503
// has left in the client's buffer may still be stored later: calls are taken in
// at least once, and the messageId tells repetitions apart.
package ingest
