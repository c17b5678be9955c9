// Package runner runs a [Stage] that reads topics, processes their records and writes
// what they lead to, exactly once: the records read, the records written and the group's
// offsets are one Kafka transaction.
//
// The loop (turn, transaction) is one goroutine. It polls, has the stage prepare and
// process, and ends the transaction; a stage with state by partition ([Stateful]) gets it
// back before the first record, and one whose records have another place to go
// ([Sparing]) is told when a topic takes none. What this rests on is in ../internal.
//
// # Non-obvious
//
// State follows the transaction. A stage applies what a transaction changed when it is
// told that it has committed, and not before: one that is aborted comes again, as other
// transactions perhaps. Of one whose end is not known nothing is applied; the session is
// over, and what is restored in the next one tells. Partitions are restored when the
// group's offsets are stable: before that the last owner's transaction may still add to
// what is read (TestAStageWithState, TestStateIsThereBeforeTheFirstRecord,
// TestAnAbortDropsWhatItChanged, TestARefusedAssignmentIsAskedForAgain).
//
// A transaction is bounded by what it writes (pace). By the records that it reads
// alone, a few thousand that lead to hundreds each took more memory than the process
// has, or longer than its timeout, and then came again. It is filled by several polls,
// since what was polled can't be put back (TestATransactionIsBoundedByWhatItWrites).
//
// At low rates records wait for company, twenty milliseconds at most. A transaction that
// begins as soon as the last has ended finds its markers still being written, and the
// client backs off for longer than the wait (TestEventsShareATransaction).
//
// The producer id is asked for before the first poll, which ends the transaction of a
// predecessor that was killed (TestAPredecessorsTransactionIsEndedAtOnce). A stop does not
// cut the end of a transaction (TestAStopFinishesTheTransactionInHand).
//
// A partition without a leader answers nothing, and the client waits for it without
// bound. A transaction that takes half of its timeout is looked at, and topics that can
// be spared are left out: those that lack leaders, and those that alone ended three
// transactions in a row, for longer than brokers take to replace one that failed (writes).
//
// A transaction that wrote to a partition before its leader was lost can neither
// commit nor abort until there is one again, and its transactional id is not free
// until then. The runner goes on under another id (identity;
// TestATransactionThatDoesNotEnd).
//
// Brokers refuse batches for their size, not records, and the client fails with a
// batch whatever waits for its partition. Only a record that was refused by itself is
// too large; a topic that refused several gets smaller batches from then on, one at
// a time, because the client's bound is for all topics (writes). While that is learned, a
// refusal does not end the transaction: one aborted transaction for each would be paid
// by everything that is processed (TestATopicThatRefusesLargeBatches).
//
// Brokers say the same of a rival and of themselves. An epoch that they raised
// because a transaction timed out, and a request of our own that they find behind a
// silence, are nobody else's (fence; TestASilentBrokerIsNoRival,
// TestTwoRoutersWithOneIDGiveUp).
//
// A transaction that brokers have forgotten to end keeps offsets pending for ever, and
// its records from all readers, or is ended by the next of its producer, however that
// ends. So behind a connection that was lost the last one is ended once more before
// anything else is written (hanging; TestATransactionThatTheBrokersForget,
// TestAnEndThatBrokersDidNotWrite).
//
// A process is unready while it waits, and while a partition stands still for a minute
// with records before it (TestAnOpenTransactionIsSeen).
//
// End returns false without an error when a rebalance came between: the session has
// rewound, the same records come again, and all that was derived from them is forgotten
// (TestExactlyOnceAcrossCutsAndRebalances). Any error means that the outcome is unknown,
// and the session is replaced (TestAnOutcomeThatNobodyKnows).
//
// The session passes on only the first revocation between two transactions. What became
// of the others is seen where the balancer reads what this process was given
// (TestEveryRevocationIsTold), and the group is asked which partitions are this process's
// own before its lag is told; by callbacks alone an idle process would count partitions of
// others (TestEachPartitionIsCountedOnce).
//
// Of several topics the partitions of one number are one member's only with a balancer
// that sees to it: range does, if the topics have as many partitions, and
// cooperative-sticky does not. State that both lead to goes with both
// (TestAStageWithTwoTopics).
//
// A group leader that was restarted may ask for one round of joins. Nothing moves, but a
// process may make its transaction again. No test holds this.
package runner
