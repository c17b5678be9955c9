// Package state holds what a leaf of a definition remembers of one user, in the three
// forms that there are, each bounded:
//
//   - ring.go: the latest time stamps of events, for counts up to 32 in a window;
//   - buckets.go: events added up by time, sparsely, all of time being one bucket;
//   - values.go: the values that a user has had, with when or how often.
//
// A [Spec] says what a leaf remembers, a [Query] what is asked of it. One state answers
// the queries of all definitions that need the same.
//
// What goes in commutes: the order in which events arrive, and two states are merged,
// makes no difference, but for the last bits of sums of fractions and for what a set that
// is full lets go.
//
// # Non-obvious
//
//   - The bucket rule is in one place, [Spec.At]: an event in a bucket counts as if it had
//     happened at the bucket's start. It leaves a window up to one bucket early, never late.
//   - A windowed sum is always added up from the newest bucket to the oldest: the sum after
//     the oldest has left is then, to the last bit, one of those passed on the way, and a
//     flip that is foreseen comes true.
package state
