// Package journal is what those who write the journal of events, and those who read it,
// share beside its format (package schemas/journal): fingerprints of calls, where a record
// belongs, and reading what was written in a time.
//
// # Non-obvious
//
//   - A fingerprint is the first half of the one that the router knows a copy by, so that
//     one hash serves both (TestPrintsAreThoseOfCopies). It is of the call, wherever its
//     record stands: on raw-events, on a destination's topic, on a retry topic and among
//     dead letters source, messageId and key are the same.
//   - The key comes from the id of raw-events. Where that was made anew there is another
//     key, and fingerprints of before are not found again: each record names its key.
//   - Records of an input partition are on one partition of the journal, also where that
//     has fewer partitions, so a reader has them in order (TestWhereRecordsGo).
package journal
