// Package txn writes Kafka transactions: a [Writer] its own, all of their records or
// none. Package runner below it reads, processes and writes in one transaction, and
// package hanging knows those that brokers did not end.
//
// What a refusal means is said in one place, package kafka: [kafka.Fenced],
// [kafka.TooLarge].
//
// # Non-obvious
//
//   - Whoever opens a writer has its producer id before anything else is read: that ends
//     what a predecessor of the same transactional id left open, and fences one that
//     lives. What the predecessor has committed by then is final
//     (TestAPredecessorIsFenced).
//   - Brokers may take the last transaction of a predecessor for complete without having
//     ended it everywhere. The one who opens a writer behind it sees that until the id is
//     used, and writes the end once more (TestAPredecessorThatBrokersDidNotEnd).
//   - A commit that is cut short is one of unknown outcome, so the end of the caller's
//     context leaves it some time (TestAStopDoesNotCutTheCommit).
//   - The client (franz-go 1.22.2) releases the records that wait for the metadata of a
//     topic just before it stores the metadata, by which EndTransaction knows what was
//     written. If the acknowledgement comes between the two, a commit aborts and returns
//     nil. So the writer lets the update finish before it commits (meet). Seen on a busy
//     machine under the race detector, in one of three runs of
//     TestNothingTwiceAndNothingLost; a session with offsets to commit is not affected.
//   - An idempotent producer does not honour the context of a record that may be in
//     flight. The writer waits for the flush, which does, and aborts.
//   - Brokers refuse a batch for its size in two ways, and what travels with a record
//     that is too large is refused with it. The writer tells neither apart and goes on:
//     whoever knows which records may be parted halves them
//     (TestAWriterGoesOnBehindARefusal).
package txn
