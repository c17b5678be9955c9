// Package hanging knows the transactions that brokers have not ended: who holds up a
// partition ([Holds]), which offsets of a group are pending ([Pending]), what the end of
// a transaction waits for ([Ending]), and what to do about those that they have forgotten
// ([Tail], [Watch], [Unfinished]).
//
// # Non-obvious
//
// Brokers may treat a transaction as complete before its end is written everywhere:
// Apache Kafka 4.3.0 to 4.4.0 (KAFKA-20734) do when they restart between the two, since
// their coordinator treats a partition without a leader as deleted. Two things follow.
//
// Offsets of the group stay pending, whoever is assigned their partitions waits for
// ever, and restarting all members does not help.
//
// Partitions that the transaction wrote to are held where it began: readers of committed
// records see nothing behind that, whoever wrote it, and what its producer writes there
// next decides for both. An abort takes the records of a committed transaction along,
// and a producer that never writes there again leaves it as it is.
//
// A marker ends whatever its producer has left open. So a process that lost a connection
// makes one more transaction, on all that its last one wrote to, with the same decision:
// it changes nothing where the end was written (TestFinish, TestFinishAsALivingProducer;
// TestAnEndThatBrokersDidNotWrite of package runner). Where the process was not told the
// decision, offsets that are settled tell, and else a record of the transaction
// (TestCommitted). What nobody knows of any more, since the process was restarted, is
// found by what stays pending, and aborted (TestPendingOffsets): records of one
// transaction may then be processed twice, and none is lost. What is known of a log that
// was cut or made anew since does not count (TestWhatIsKnownOfAnotherLog).
//
// A process that is started sees what its predecessor had decided, as long as it has not
// used the id, and that some partitions have records that nobody may read yet. It ends
// that transaction there once more (Left; TestAPredecessorThatBrokersDidNotEnd of package
// runner).
//
// A Writer of package txn does the same where it is opened, and there alone
// (TestAPredecessorThatBrokersDidNotEnd of package txn): a writer that lives has no fetch
// under way that would tell it of a lost connection. Its next transaction ends the last
// one; only if that one is aborted, records may go along.
//
// One window is left. If the connection is lost while the next transaction is already
// open, that can't be preceded any more; if it also has to be aborted, it may take records
// along.
package hanging
