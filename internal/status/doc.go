// Package status finds out, from the brokers alone, what the pipeline is doing and
// what to do about it: which stages run, what waits and since when, at which
// destinations it fails, what was given up.
//
// [Gather] asks the brokers and reads a bounded part of the topics ([tally] counts
// it), [Advise] says what follows from it, and [Table] and [JSON] print it. Nothing
// is written, no group is joined, and no secret is shown: endpoints appear without
// user and query.
//
// Offsets alone would not do. A topic that is written in transactions never comes
// to a lag of zero, and the sink commits an offset and, in the commit's metadata,
// what it has finished beyond it. So what waits is read, and where there is too
// much of it the report says "at most" or "at least".
//
// # Non-obvious
//
//   - How long an event has been on a retry topic says nothing about how long its
//     receiver has been away, since each attempt puts it there again: the time of its
//     first attempt does (TestADestinationThatIsDown).
//   - A group that has read all of a topic that is written in transactions may stay one
//     offset behind in each partition (TestMarkersDoNotWait).
package status
