// Package decode makes events of the bodies that SDKs send: it takes a request's
// body apart into calls, judges each on its own, and writes the good ones in the
// one canonical form that is stored. It knows nothing of HTTP or Kafka; what it
// refuses it refuses with a *schemas.Violation.
//
// A body goes through these steps:
//
//   - decode.go, deep.go: it is walked, once, and taken apart into calls. What
//     was passed over is valid JSON afterwards;
//   - accept.go, event.go, digits.go: each call is judged and completed (ids made
//     strings, the client's clock corrected, the batch's context merged);
//   - terms.go, review.go: what the server knows and wants of a call: the client's
//     address goes in, a suppressed user's call is left out, and a reviewer may mark
//     or block it;
//   - rows.go: the rows of a file, each of which is a call, go the same way;
//   - press.go, events.go: its canonical form is written, one behind the other.
//
// internal/member changes single members of a call, internal/rawtext looks at text
// that was not yet read.
//
// The rules are those of the protocol, named by their numbers.
//
// # Non-obvious
//
//   - A numeric id beyond 2^53 keeps its digits, while any other number is rounded to
//     float64: two users must not become one (TestLongNumericIDsKeepTheirDigits).
//   - RudderStack's server SDKs put the present time into originalTimestamp and what
//     their user has given into timestamp: with a channel, which is theirs, timestamp
//     goes first (TestTimes).
//   - The category of a page is a string in a delivery, and no rule of the protocol
//     refuses another one: it is made a string. What is accepted and not deliverable is a
//     dead letter that nobody can repair (TestCategories).
package decode
