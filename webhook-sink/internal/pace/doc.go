// Package pace decides how fast the retries of one destination start, and which
// moment in the future a retry gets that finds no room now.
//
// As a rule retries start as fast as their slots allow. After an outage they do
// not: a receiver that comes back would meet all that failed meanwhile at once.
// Retries then begin at a tenth of the rate of fresh events, and twice as many
// may start every ten seconds until the slots are the limit again.
//
// A retry that finds no room is given a moment of its own and comes back then.
// Coming back after a fixed delay instead, to compete with all others again,
// costs thousands of writes per event when a hundred thousand wait.
//
// It has no goroutines, timers or clock of its own: time is an argument, never
// less than at the call before. It should be that of time.Now, whose monotonic
// reading makes it so when the wall clock is set back.
//
// # Non-obvious
//
//   - Reservations get nine tenths of the rate: with all of it, retries came back to a
//     full memory and reserved again (TestReservationsFollowTheRateThatWillBe).
//   - A withheld attempt is reported when its retry record is written, which may be after
//     the recovery. For five seconds such news does not end the ramp; it would let
//     everything due start at once (TestLateNewsOfAnOutageDoNotEndTheRamp).
//   - While a destination is down, the rate of its retries falls twice as fast as a ramp
//     rises, so a breaker that opens for seconds does not begin a ramp from the bottom
//     (TestAShortOutageCostsLittle).
package pace
