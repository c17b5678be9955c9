// Package offsets keeps, for one partition, which of its records are finished.
//
// Records finish in any order. What may be committed is the offset up to which
// all of them have: a consumer that commits the highest finished offset, or that
// marks records as they finish, loses those still in flight when it is killed.
// But what finished behind an unfinished record must not be forgotten either, or
// every stop would repeat it; so a commit carries, beside its offset, the set of
// records finished beyond it (see [Done]).
//
// Offsets have gaps (the control markers of transactions, compaction, aborted
// records), so "the next offset" is never computed, only remembered.
//
// A log may lose its tail and be written anew from there. Records below the cut are
// still in it, and those of them that are unfinished hold the position back as before:
// on a retry topic they wait for minutes, in which any stop would lose them
// (TestTrackerAgainstASortedSet, TestALogWrittenAnewFromTheMiddle).
//
// # Non-obvious
//
//   - A transaction's marker makes no entry in a tracker: between unfinished records it
//     would cut the finished ones into more runs than a commit's metadata holds. Its
//     leader epoch goes with the offset (TestMarkersArePassedOver).
package offsets
