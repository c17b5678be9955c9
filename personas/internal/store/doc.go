// Package store keeps what the personas stage knows of each user: one record per user, the instants at which records are
// to be looked at again, and how far each partition has come. What is in a record is the stage's own business.
//
//	store, batch         what a store is, and what is written to it
//	memory               one that ends with its process
//	pebble, access, key  one on disk: its life, what is read and written, its keys
//	room, health, guard  how that one waits for its disk, and what becomes of it when the disk fails
//	usage                who is at work in it when it is closed
//
// The changelog topic is the truth; a store is a copy of it that is quick to read. A store that is lost, or that forgets
// the last minutes in a crash, is brought up to date from there. It must never be anything but the state at its own
// checkpoint.
//
// A restore is [Store.Apply], as is everything else: batches of a few megabytes, each with a checkpoint that says how much of
// the changelog is in it, so that a restore that was interrupted goes on where it was. The record written last counts, and a
// timer that an older one has left does no harm: who finds a record that is not due yet deletes the timer and sets the right
// one.
//
// # Non-obvious
//
//   - Without a WAL pebble keeps a prefix of its batches, whatever of the unsynced files survives. The checkpoint has to be in
//     the batch of what it describes, or it is another prefix (TestACrashLeavesTheStateAtTheCheckpoint).
//   - When a flush fails pebble tries again at once and for ever, and a writer waits in it without end, holding what closing
//     needs. So writing waits here instead, before pebble, where a failure or closing ends it
//     (TestWritingWaitsForFilesAndForNothingElse).
//   - Pebble calls Fatalf when the manifest can't be written, and relies on it to end the process: another edit behind a torn
//     one could make files of two instants. Ours ends the goroutine, and from the first failure on nothing reaches the files.
//     A store that has failed keeps its memory and goroutines that stand still until the process ends
//     (TestADiskThatFailsIsNoSecret).
//   - Timers are a set, and are written without a look at what is there: a user becomes due at an instant, at a later one and
//     at the first again while the first timer still stands. So they are deleted by Delete: a SingleDelete, which leaves less
//     behind in the files, is right only for a key that was set once, and to look it up is most of what a restore would cost
//     (TestTimersAreASet; BenchmarkLoad).
//   - Built without cgo, as it is shipped, pebble's cache and buffers are on Go's heap: with GOGC at 100 the process may take
//     twice the memory that the store is given. GOMEMLIMIT bounds it. No test holds this.
package store
