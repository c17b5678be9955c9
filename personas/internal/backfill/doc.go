// Package backfill reads raw-events once more, up to where a definition was put in force:
// a part of a partition at a time, beside the stage, which folds it into the new leaves
// alone. Folds commute, so what is read and what comes live need not be in order.
//
// # Non-obvious
//
// What a transaction has open at the cut is committed later and stands before it. The
// reader waits for it, since it sees no further than committed records go (TestParts).
//
// Parts are read in turn, two at a time: a broker that says nothing keeps one of them, and who
// waits has as much time as ever when the turn has come (TestAReadThatHangs). What nobody
// waits for any more is not read (TestAPartitionThatHasGone).
//
// Copies are told by what stood before in the log, which is not what the stage knows: from
// where a backfill begins, the horizon before it is read too, by the reader that folds none
// of it (past).
package backfill
