// Package seen knows which calls a stage has seen: the fingerprints of a partition's
// calls below an offset, for a horizon. It is the memory of a stage that processes each
// call once, however often it was sent.
//
//	fingerprint  what stands for a call, and the key that it is made with
//	store        the sets of a process, their directory, and what goes on beside the loop
//	set          one partition's: what is asked, and added
//	open         its files are taken up, and removed
//	batch        what a transaction adds to one
//	load         a set is restored
//	tend         what takes time: logs are written, runs made and merged, files removed
//	generation   what was added last, in memory, with its log (log)
//	run          what was before: sorted fingerprints in a file, and filters in memory
//	filter       what they are made of, and asked
//	stream       merging runs
//	table, file  a set in memory; files
//
// A set is a function of the log below an offset, and so is nothing that a transaction has
// to write: it is changed when one has committed ([Batch.Commit]), says up to where
// ([Set.Next]), and is read again from the log when it is lost (package digest).
//
// # Non-obvious
//
//   - The loop waits for no file. It puts fingerprints into memory; logs, runs and merges
//     are the store's goroutine's. What can't be written stays in memory, is said and
//     counted, and is tried again (TestADiskThatIsFull). Files that were to be
//     removed and stay are not taken up (TestFilesThatStay).
//   - Time is the log's: a bucket is of the records' time stamps, never earlier than the
//     one before, and what expires does so as the log moves on. So a backlog of days is
//     compared with what was before it, and a record of the future ends nobody's horizon
//     (TestExpiry, TestARecordOfTheFuture).
//   - A call that is seen again is remembered anew: the horizon is since the last time.
//   - Runs are merged within their bucket alone, so that a bucket can expire by itself.
//   - Files follow on one another by their offsets. What a crash or a disk has damaged is
//     cut off with all behind it, and read again from the brokers
//     (TestFilesThatAreDamaged, TestEachCutOfALog). A page that is found damaged later,
//     while it is asked for or merged, makes the set useless, which whoever asks next is
//     told, and [Set.Err] (TestADamagedPage, TestDamageThatAMergeFinds).
//   - Logs are not synced, runs are before they have their names. So a power cut may take a
//     log, or the file of one, whose successor is there: each file says of which bucket what
//     came before it is, so that a set which lost its beginning is not taken for one that
//     has forgotten what expired (TestFilesThatAreLost, TestAPowerCut in package digest).
//   - The directory for temporary files has files without names: a kill leaves none.
//   - Fingerprints hold the key of the record too: the same messageId of another user is
//     another call, on whichever partition it is.
package seen
