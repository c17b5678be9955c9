// Package scenario says which calls every SDK has to make, as data: the calls of
// scenario.json, each with all that it may be given, and a crowd of small ones
// that takes several batches.
//
// What one SDK cannot say is taken out before it is told what to send, so that
// the driver and the judge read the same list.
package scenario
