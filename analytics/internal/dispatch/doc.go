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
// callers take that of the door (package door) alone. Neither is held while anything is
// waited for, nor while a message is reported.
//
// What is decided without a clock or a lock stands in packages of its own: when a batch
// leaves (schedule), who is in it (queue), when it is divided (batch), and how long it
// rests (retry).
//
// # Non-obvious
//
//   - A batch that waits for another attempt has no request under way, or as many bad
//     batches as there may be requests would stop the client for ever
//     (TestBatchesThatAlwaysFail). Second attempts have half of the requests at most while
//     there is something new to send.
//   - The rest of a batch that is divided goes back into the queue, not into a batch of its
//     own: small batches would be left of every outage (TestOutageLeavesBatchesWhole). Its
//     messages remember how many they were, so that a bad one among 2,500 is found in a dozen
//     attempts (TestBadMessageIsFound).
//   - When the oldest messages are to make room, batches that wait for another attempt go
//     back into the queue first: in an outage they have nearly all messages, and the
//     youngest would be dropped (TestDropOldestInAnOutage).
//   - With one request at a time nothing leaves while a batch waits for another attempt:
//     the order of all messages would break (TestOrderOfAll).
//   - A user with a batch out may not have younger messages given up for their age before
//     it: outcomes are told in order (TestEveryMessageHasOneOutcome).
//   - A batch's room is given back before its messages are reported, and its users
//     afterwards: a callback may queue another message (TestPutInReport), and each user's
//     outcomes come in order.
//   - A full queue leaves at once: it may be smaller than a batch (TestFullQueueLeaves).
package dispatch
