// Package queue holds what waits to be sent, and decides what may leave
// together.
//
// A batch is made of the oldest messages, but not of those of a user who has
// messages out already: these wait until the batch that has them is done. So
// several batches may be out at once and be retried for any length of time, and
// still each user's messages arrive in the order in which they were queued.
//
// The package starts no goroutine, knows no clock and has no lock.
package queue
