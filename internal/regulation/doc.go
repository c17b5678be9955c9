// Package regulation keeps what is asked for about single users: that their data
// be deleted, and that nothing more be taken in of them (protocol, "Deletion
// requests"). Each request is a regulation; its state lives in the topic
// `regulations`, so that every process sees it and it outlives them all:
//
//	suppression/<hash>             {}     the user's calls are dropped
//	suppression/<key>.<hash>       {}     the same, by a hash with a key of this id
//	regulation-subjects/<id>-<n>   {"subjects":["u1","u2"]}
//	regulation/<id>                {"type":"SUPPRESS_WITH_DELETE","status":"RUNNING",…}
//	regulation-run/<id>            {"token":"…"}
//
// Earlier releases wrote the same to the topic `workspace`. That is still read, into
// [Register.Former], and never written: a suppression there is lifted by a record with
// {"lifted":true}, and of a request in both topics the further state counts.
//
// A record without value removes what its key names. Suppressed users are known
// by a hash alone. The ids of users to delete are needed until the last
// notification of them is written, and are removed then.
//
//	regulation, record   what a regulation is, and its records
//	register, suppressed the state in memory, as the topic says
//	renewal              the topic read from its start, at first or again
//	former               what earlier releases wrote, joined with what is known now
//	keys, rekey          the keys of hashes, and users who are written under a newer one
//	notification         the events on raw-events by which users are deleted
//	ledger, run          the transactions that change the topic
//
// A [Register] is filled by whoever follows the topic, record by record in the
// topic's order. A [Ledger] writes. It never changes the register: what is in
// force is what came back from the topic, in the one order that all processes
// see.
//
// What a topic that was deleted and made anew lacks stays in force in memory
// (TestWhatANewTopicLacksStaysInForce), and a topic that is read again shows nobody a
// state of its past (TestATopicReadAgain).
//
// # Non-obvious
//
//   - An open transaction hides what others write behind it: a deletion writes its events
//     first and the topic `regulations` last, or a slow partition of raw-events would hold
//     up every suppression. No test holds this.
//   - Who takes a request over fences first, then writes a claim and waits to see it: all
//     that the predecessor has committed stands before the claim. To read without it is
//     to repeat the predecessor's last step (TestAClaimThatWasOvertaken;
//     TestAPredecessorThatLives in package regulate).
//   - To write a suppressed user under another key is to suppress the user again. So
//     whoever does it, and whoever accepts users again, takes hold of one transactional id
//     and waits for all that was committed before, as a run does: the later one fences the
//     earlier (TestARekeyingThatIsTooLate). To suppress takes no hold: its order with a
//     rekeying makes no difference.
//   - A record of a request names no hash without a key, not even to remove what may not
//     be there: on the embedded broker that would stay in the log (TestUnderAKey).
//   - Which keys are missing is known once all was read: under a key that was retired the
//     log still has users, and behind them their removals
//     (TestAKeyIsMissedOnceAllIsRead).
package regulation
