// Package deadletters reads the topic `dead-letters` for people who work with
// it. [Open] fixes what there is to read, a [Selection] says which of it, and
// [View.Each] hands it out one dead letter at a time, the oldest first: a topic of
// millions costs no more memory than one of ten.
//
// A dead letter that was sent again stays where it is. That it was is written to
// `dead-letters-redriven`, one record each, in the transaction that sends it
// (package redrive): [Mark] makes that record, and [Letter.RedrivenAt] is what it
// says.
//
// # Non-obvious
//
//   - A partition stands in the order in which its records arrived, which several
//     processes write. So the order of time over all of them is that of a merge, not of a
//     sort: what was given up within the same moment may stand the other way round, and a
//     letter that arrived late stands where it arrived (TestALateLetterStandsWhereItArrived).
package deadletters
