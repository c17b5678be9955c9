// Package groups tells how far consumer groups are, and what became of what they have
// not read.
//
//	groups    groups and their members, as coordinators describe them
//	lag       how far a group is behind
//	backlogs  what it has not finished, next to what is kept for it
//	losses    what it will never read
//
// # Non-obvious
//
//   - A client whose position retention has deleted goes on at the first record there is,
//     without a word. [Losses] tells by the start of the log, which comes with each fetch.
//     A gap between two records is none: what was aborted is left out (TestGap). A position
//     that goes back is no truncation unless the log ends before it too: a new session reads
//     again from what was committed (TestWhatIsNoLossIsNotTold).
//   - Brokers may be told to keep offsets for longer than a Duration is: the embedded one
//     is (TestOffsetsKept).
//   - A cluster that has never had a group has no coordinator for some seconds
//     (TestLagWaitsForTheFirstCoordinator).
package groups
