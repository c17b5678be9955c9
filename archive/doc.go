// Package archive writes the events of destinations of the type archive to gzip NDJSON in a
// directory or a bucket, each once. docs/archive.md is for those who run and read it.
//
// What a partition holds between two offsets is a range. Its records are measured as they
// come and forgotten; when there are enough of them, or they are old enough, the range is
// closed and announced in a commit, read from the log once more, and stored as one object for
// each source and day. Then it is committed as done. The log is the only buffer: whatever
// ends the process, and however long a store is away, nothing is held but one range of each
// destination while it is written. Package cut has the states, and why nothing is doubled.
//
//	stage     what is declared of the stage
//	archive   the stage, one membership in the group after the other
//	session   one of them: it fetches, measures, and follows the workspace
//	assign    partitions come and go
//	part      one partition: its next task, and commits
//	write     a range is read and stored, however often it takes
//	places    stores of destinations, and that each is of one topic
//	journal   what the journal says of a range
//	metrics   counters, and what waits
//
//	internal/cut     which records make one object, and what is committed when
//	internal/object  lines, objects and their names
//	internal/group   commits of which it is known whether they were made
//
// # Locks
//
// The session's mutex is over its partitions and taken alone; each partition has one, under
// which the client is told to pause and resume. That of places and that of slots are taken
// alone, and so is the one of metrics.
//
// # Non-obvious
//
//   - A rebalance waits for nobody. What a process writes that has lost its partition was
//     announced while it was a member, so whoever has the partition next writes the same; what
//     it commits the group refuses (TestKilledAHundredTimes).
//   - The client does not pass on the metadata of commits, so marks are read as partitions
//     come, in the generation that has just begun. Without them nothing is begun.
//   - A range is read by the topic's name. What another topic of that name holds at the same
//     offsets is none of it, so the id is compared before anything is stored
//     (TestATopicThatIsMadeAnew).
//   - Retention may take the beginning of a range between its announcement and a second try.
//     An object of it that is there is the better one, and is left alone
//     (TestARangeThatLostItsBeginning).
//   - The stage joins no group while the workspace has no archive, and is ready all the same
//     (TestWithoutArchives). Behind a transaction that nobody ends it is not
//     (TestAnOpenTransactionLeavesAnArchiveUnready), and while a store is away it is
//     (TestAStoreDoesNotMakeAnArchiveUnready).
package archive
