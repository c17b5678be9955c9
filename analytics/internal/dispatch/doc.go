// Package dispatch is the life of a message between the call that queued it and
// its outcome: it is let in (put.go), leaves in a batch (loop.go), is attempted
// until the server has decided (deliver.go) or the client is closed (close.go),
// and is reported exactly once.
//
// One goroutine, the loop, takes batches from the queue and starts a goroutine for
// each that is out. Callers put messages under a lock instead of sending them to the
// loop: the bounds of the queue are exact that way, and the loop is woken once for
// a batch instead of once for a message. There are two locks, because a caller
// that found the only one taken would stand behind the work on a whole batch: most
// callers take that of the door (door.go) alone. Neither is held while anything is
// waited for, nor while a message is reported.
package dispatch
