// Package imports puts files of calls into the log: what `anabranch import` does.
//
// Calls go through the door that HTTP has: package decode judges and completes them, the
// source's tracking plan reviews them, suppressed users' calls are left out, and package
// store makes records of them. What is different of a call that happened long ago is in
// decode.Import. They do not go through HTTP itself. An answer that is lost leaves open
// what was stored, so a resumed import could only send again and leave it to the router to
// recognise it, for as long as ROUTER_DEDUP_WINDOW lasts; no request says to whom calls may
// be delivered; and a write key says less than a principal on the brokers.
//
// Instead, each batch is one Kafka transaction of its events and of a record in `imports`,
// which says how many rows of which files are in. The files are known by their digest.
// Whatever ends an import, kill -9 included, the same command continues behind the last
// row that is in: each row is accepted or refused once. All runs of one digest share a
// transactional id, so a second one ends the first. The messageId of a row without one is
// made of digest and row, for those who import it --again.
//
//	input    which files, whose calls, what they may be
//	door     rows become records, or are refused
//	plan     all rows are read once, and nothing is written
//	start    an import from the row where the last one ended
//	ledger   what the topic knows of imports
//	rejects  the file of rows that were refused
//	report   what people read
//
// # Non-obvious
//
//   - What is refused must stand in its file before the transaction that counts it is
//     committed, and what stands there behind that is not counted yet. So the record says
//     how long the file was, and a run that goes on cuts it there
//     (TestKilledAnywhere).
//   - A file that is cut would be found in the midst, with its first rows in; whole again, it
//     has another digest, and they would be in twice. So the digest is taken by reading all
//     rows (TestNothingOfACutFile).
//   - An archive says of a call when it was sent and received, long ago: a correction by
//     that would move all its events into the present (TestRows in package decode).
//   - The workspace is read again while an import runs: a user may be suppressed on the way
//     (TestSuppressedOnTheWay).
//   - The embedded broker deletes nothing unread, and ingest refuses calls when too much
//     waits. An import waits for the router before it comes to that
//     (TestAnImportWaitsForTheRouter).
package imports
