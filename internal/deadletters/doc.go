// Package deadletters reads the topic `dead-letters` for people who work with
// it. [Open] fixes what there is to read, a [Selection] says which of it, and
// [View.Each] hands it out one dead letter at a time: a topic of millions costs
// no more memory than one of ten.
//
// A dead letter that was sent again stays where it is. That it was is written to
// `dead-letters-redriven`, one record each, in the transaction that sends it
// (package redrive): [Mark] makes that record, and [Letter.RedrivenAt] is what it
// says.
package deadletters
