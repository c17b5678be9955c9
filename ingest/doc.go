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
//   - internal/body: the body, read and decompressed up to its limit, in memory that
//     all bodies share;
//   - internal/decode, with internal/timestamp: the body is taken apart into
//     calls, and each that is good becomes an event in its one canonical form,
//     unless the source's plan (internal/plan) blocks it or its user is suppressed;
//   - internal/store: the events of the request are handed to the Kafka client,
//     all or none, and waited for together;
//   - internal/answer: the result is put into words, and internal/metrics counts
//     and logs it.
//
// handler.go leads through them. Beside it, settings.go serves SDKs the settings
// (internal/sdksettings) that they fetch before they send anything, and regulations.go is the service that
// takes in deletion requests.
//
// What is guaranteed: 200 means that every call that is not named in the answer
// is stored on all in-sync replicas, or that its user is suppressed; 503 and 429
// claim nothing, and the SDK sends the same bytes with the same messageIds again.
// What a request that ended with 503 has left in the client's buffer may still be
// stored later: calls are taken in at least once, and the messageId tells
// repetitions apart.
//
// # Non-obvious
//
//   - A request without a good key must cost next to nothing, and a body of a
//     kilobyte is half a megabyte when it is inflated. So an address that sent too
//     many wrong keys is refused before its body is read, unless a good one stands
//     in the head (TestWrongKeysAreRefusedUnread), and a body is searched for a key
//     that is good before it is parsed (TestWhoHasNoKeyCostsNoParser). Without one
//     the answer is 401, whatever else is wrong with it.
//   - An id such as "null" is what thousands of clients send who have no user. As the
//     key of a record it is one user, whose events are delivered one after the other,
//     in one partition: it counts as absent there, and as it came everywhere else
//     (TestIDsOfNobody).
//   - No body may take a parser long for its length (BenchmarkHostileBatches).
//   - A destination whose endpoint is our own collection API would send each event around for ever, under a messageId of its
//     own: what bears the User-Agent of deliveries is refused with 403, which is final, whatever its key
//     (TestOwnDeliveriesAreRefused). anabranch_ingest_requests_total{code="403"} counts it.
//   - The limit of a call is on its bytes as received; canonical bytes may be more (1e20
//     is 21 digits), and a batch's context goes into each of its calls. What a request
//     may grow to has a bound of its own (TestLimitsToTheByte, TestMergingIsBounded).
//   - A preflight is 204 for unknown paths and wrong keys too: what is wrong is said in
//     the answer to the POST, which a page can read (TestPreflights). An answer without
//     CORS headers is a network error to the page, and SDKs then send again what was
//     accepted, each call two to four times (TestAPageCanReadEveryAnswer).
//   - The scheduler lets a goroutine run for ten milliseconds: large bodies are decoded
//     in slots of their own, for half of the processors, or small calls would wait behind
//     them (TestLargeBodiesLeaveRoomForSmallOnes).
//   - net/http resets an HTTP/2 stream whose body was not read, and curl 7.88 loses every
//     other answer with it: the rest of the body is read first
//     (TestARefusalOverHTTP2TakesTheBody).
//   - Beside chunked, a Content-Length is ignored by net/http, and the connection is
//     kept: the chunks count, so a body means one thing behind any proxy that follows the
//     standard (TestSmuggling).
//   - The SDK of apps (Kotlin) sends gzip with text/plain to /v1/b, and an empty userId
//     for anonymous users (TestPeculiaritiesOfSDKs).
//   - Node, Python and Java clients of Segment split batches by bytes; Go 2 and
//     RudderStack's Node and Python do not, and drop what is answered 413:
//     INGEST_MAX_BATCH_BYTES lets their users have more (TestALargerBatchMayBeAllowed).
package ingest
