// Package schedule decides what becomes of an event after an attempt, or without
// one: where it waits, until when, and when it is given up. Nothing here has
// effects.
//
// Retry topics are shared by all destinations and read by all sinks, of which one may
// not have read yet what the workspace says of a new destination. The retries of a
// destination that is not known are put back for the first minute of their lives, and
// buried only then (TestJudge, TestARetryOfADestinationThatIsNotKnownYet in the sink's
// package).
//
// A pause of a destination is no part of the window of its retries: each is put back until it
// is over, and the time for which it was is written in it ([schemas.Headers.Paused]). First
// attempts, which have no window yet, wait on the destination's own topic.
//
// # Non-obvious
//
//   - A retry goes to the topic on which its due time is between 0.75 and 1.5 delays
//     away: one write. Where no topic covers the wait, it hops (TestTheTopicThatFits).
//   - Retry-After is for the event that it answered. Were others held back for it, each
//     would begin with a refusal of its own, one after the other (TestHintOfTheReceiver).
package schedule
