// Package stablejson writes JSON in the one form that survives the round trip
// JSON.stringify(JSON.parse(text)) byte for byte.
//
// Receivers of webhooks verify a signature over the bytes they get by parsing
// the body and serialising it again, so a signed body has to be a fixed point of
// that round trip whatever the customer sent. The rules are ECMAScript's:
//
//   - no white space;
//   - in objects array-index keys (canonical decimal 0 to 4294967294) come first,
//     ascending, then the others in order of first appearance;
//   - of duplicate keys the last value stays, at the place of the first;
//   - numbers are float64 printed as ECMAScript prints them; -0 is 0, overflow
//     is null;
//   - strings escape the quote, the backslash and control characters, nothing
//     else;
//   - a lone surrogate and every maximal part of an ill-formed UTF-8 sequence
//     become a literal U+FFFD. JSON.stringify would print lone surrogates as
//     escapes, but not in every version of Node; U+FFFD is stable in all.
//
// Neither encoding/json nor an RFC 8785 library does this: the former escapes
// more and keeps numbers as they are, the latter sorts keys another way.
//
// [Append] rewrites one text. [Reader] walks a text once from front to back, for
// callers that take it apart on the way. [Object] holds one object's members for
// looking up and changing them. No tree of values is built by any of them: text
// is validated and copied in the same pass.
//
// A value is called stable here when it is the output of this package.
//
// # Non-obvious
//
//   - strconv.ParseFloat takes up to 22 µs for numbers of six bytes, those below
//     2.3e-308 and just above 1.8e308, and a microsecond for ties; of more than 800
//     digits before the point it forgets how many there were. exact.go converts
//     these, so that no text costs out of proportion (BenchmarkHostile) and all are
//     right (TestNumbersAtTheEdges).
//   - That a number of 16 or 17 digits is stable shows in its conversion alone, so a
//     stable text that is read again has those converted again, in some 80 ns each.
//     To trust them would make any record in a topic a body that does not verify
//     (FuzzAppend of the sink's bodies).
//   - What Skip passes over is validated and not converted.
//   - encoding/json escapes <, >, &, U+2028 and U+2029, keeps 1.0 and -0, and sorts the
//     keys of maps; none of that survives the round trip that receivers verify over
//     (TestAppendMatchesRecordedCases).
//   - To put fifty thousand keys in order before they are refused costs as much as
//     hundreds of good calls: a text that is too long is read for its syntax alone, by
//     [Reader.Discard] (TestDiscard, BenchmarkHostileBatches in ingest).
package stablejson
