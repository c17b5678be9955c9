// Package messagetrace tells what became of a call: how it came, what the router decided
// for each destination and why, each attempt, what waits and until when, and dead letters.
// [Find] looks for the calls with a messageId, [Last] lists the newest events of a
// destination, of a reason or of a user, and [FindViolations] counts what tracking plans had
// against calls. All only read, from the brokers alone.
//
//	find        where calls are looked for: raw-events, or the journal where the user is known
//	hint        in which order times are searched
//	pursue      calls followed through the journal, to where nothing more can come
//	letters     their dead letters, and which of those were sent again
//	standing    where they are, as far as the journal leaves it open
//	facts       what was found of a call
//	assemble    what became of it, decided from the facts alone
//	share       which attempts are of which call, where calls have one fingerprint
//	last        lists
//	violations  what tracking plans had against calls
//	print       for people
//
// # Non-obvious
//
//   - Nothing has an index of messageIds, and a fingerprint takes the key of the record: the
//     user. So without the user all partitions are searched, the newest first, and with it
//     the journal of one partition is, in which a call takes nine bytes
//     (BenchmarkSearch). A messageId that says when it was made is looked for there first
//     (TestHint).
//   - Eight bytes of a fingerprint stand in the journal as they are, so records that don't
//     hold them need not be decoded (TestFind).
//   - A call that the router is past and that the journal does not know is not called lost
//     or delivered: the journal may have been off (TestWhatTheJournalLacks).
//   - A kill repeats an attempt, and what is sent again begins to count anew: an attempt is a
//     repeat only if it was of the same record (TestAttemptsAreShown).
//   - A blocked call keeps what it violates in the detail of its dead letter, in words: names
//     of events and properties may hold what stands between two of them (FuzzViolationsOf).
//   - Calls have one fingerprint where the same was sent twice and copies were not told, or
//     no longer: attempts are given to them in the order of their records (TestSharing).
package messagetrace
