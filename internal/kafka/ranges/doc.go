// Package ranges tells what partitions hold for readers of committed records, and reads
// it: [Read] a range up to its end, as restoring a state or sending events again needs
// it, and [Fetch] a part of one partition beside a consumer. Whoever follows a topic
// beyond an end does it with the client of [Open].
//
//	ranges  what partitions hold, and since when
//	span    a range that is read: where it is at, what came of it, what will never come
//	read    many side by side, within limits
//	part    one fetch
//
// # Non-obvious
//
//   - The last offset of a range is often a transaction's marker, so markers are read too
//     (TestReadSeesWhatIsCommitted). The marker of what was aborted at the end of a range
//     may stand behind it, after an open transaction, and then nothing shows that the end
//     was reached (TestReadStopsBeforeAnOpenTransaction). Nor does anything when compaction
//     has taken the last records (TestReadPastWhatWasCompacted) or retention the rest
//     (TestWhatIsDeletedIsCounted). So when nothing comes, one fetch asks what is there.
//   - That an empty answer means that nothing is left holds only where the broker shows
//     committed records up to the end of the range: one that has just become the leader
//     may not know yet how far they go.
//   - A broker that has just been started may not know a topic that there is. A look may
//     count the rest as deleted. Whoever takes what was read for a state must not: an
//     empty workspace would be put in force, and dead letters whose marks were not seen
//     sent again. So [Span.Skip] leaves that to its caller, and [Read] to its Patience
//     (TestPatienceEnds, TestABrokerThatDoesNotKnowTheTopic in package wstopic).
//   - A client sends all its fetches to a broker over one connection, one after the other.
//   - Where the limit of a whole fetch bounds the answer, the embedded broker forgets to
//     say which records were aborted; the limit of a partition is safe
//     (TestPartsOfAPartition).
package ranges
