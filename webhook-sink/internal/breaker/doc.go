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
package breaker
