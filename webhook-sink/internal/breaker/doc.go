// Package breaker decides whether one endpoint is tried at all. An endpoint that
// fails several times in a row is left alone, but for one probe now and then, so
// that a dead host costs a few timeouts instead of one for each event.
//
// It has no goroutines, timers or clock of its own: time is an argument. The
// times it is given should be those of time.Now, whose monotonic reading keeps a
// change of the wall clock from moving the next probe.
//
//	Closed  -- Threshold failures in a row and
//	           Silence, or ten times as many ------> Open
//	Open    -- the pause is over, an attempt asks -> Probing
//	Probing -- the probe failed, pause doubled ----> Open
//	any     -- a success --------------------------> Closed
//
// # Non-obvious
//
//   - A breaker that doubles its pauses whatever the failure was starves receivers that
//     are alive: with the first try of each event failing, each probe is some event's
//     first try (TestReceiversThatAreMoody in package work).
//   - A late failure of an attempt that was admitted before the breaker opened says
//     nothing new; a late success closes it (TestLateReports).
package breaker
