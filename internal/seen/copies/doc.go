// Package copies tells calls that a stage has processed before: the same messageId, from the
// same source, under the same record key, within the horizon. What a stage of package runner
// has to do for that, it hands on to here.
//
//	copies   what is asked and learned of a transaction
//	keeping  sets that come and go with partitions, and what runs beside the loop
//	metrics  what is told of it
//
// # Non-obvious
//
//   - Records are looked at before their transaction is processed (Look), since that can
//     fail, and processing can't: a set that can't be read ends the session, and is made
//     anew.
//   - What a transaction adds is put into the sets when it has committed, and only where the
//     set is the one that it began with: a partition may have been somebody else's meanwhile
//     (TestARouterThatLosesEverything).
//   - A record below the offset up to which a set is known would be taken for a copy of
//     itself, and be lost. So that it comes at all ends the session (TestARecordThatComesAgain).
//   - What a client sends again is often in the same transaction (TestCopies).
//   - A redriven event passes, and is not remembered: the call that it was is.
package copies
