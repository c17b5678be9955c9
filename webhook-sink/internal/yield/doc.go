// Package yield decides how much of a replay may be in flight at one destination, so that
// its live events do not feel it: many receivers work on a few requests at a time, and what
// is beyond those waits for the others there, where no order of ours helps.
//
// How long attempts take tells. Those that begin with nothing of a replay beside them are
// what is usual, and others are held against that: the replay gets more room while they take
// no longer, and less when they do, down to an eighth of the time of a single attempt. What
// was too much is tried again later, each time a longer while.
//
// It has no goroutines, timers or clock of its own: time is an argument.
//
// # Non-obvious
//
//   - Slots alone don't keep live events quick: of a receiver that works on eight requests at
//     a time a replay with half of 64 slots made them take five times as long
//     (TestAReplayDelaysNoLiveEvents in package work).
//   - Each look at the averages may be a false alarm, and many a second took the room away
//     from replays to receivers whose times differ: a round lasts a second, and is held
//     against what chance explains (TestTimesThatDifferAreNoAlarm). Nor is it one when a few
//     attempts take very much longer: a machine that stood still for a moment every few seconds
//     left replays a fifth of their rate (TestAMomentOfStandstillIsNoAlarm).
package yield
