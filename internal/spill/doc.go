// Package spill keeps more than memory is taken for, on [Piles]: what belongs together is
// put on one of them, in whatever order it comes, and read back a pile at a time. What is too much
// for memory goes to a file without a name, below TMPDIR, which ends with the process.
//
// # Non-obvious
//
//   - A pile keeps the order in which entries were put on it, also across the file, so a later
//     entry may stand for an earlier one (TestAPileKeepsItsOrder).
//   - The disk is not ours alone: what runs inside a process that has other things to do gives
//     its piles a [Room], and fails where that is full (TestARoomIsBounded).
package spill
