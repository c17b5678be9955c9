// Package hanging knows the transactions that brokers have not ended: who holds up a
// partition ([Holds]), which offsets of a group are pending ([Pending]), what the end of
// a transaction waits for ([Ending]), and what to do about one that they have forgotten
// ([Watch], [Unfinished]).
//
// # Non-obvious
//
// Brokers may treat a transaction as complete before its end is written everywhere:
// Apache Kafka 4.3.0 to 4.4.0 (KAFKA-20734) do when they restart between the two, since
// their coordinator treats a partition without a leader as deleted. Offsets of the
// group then stay pending, whoever is assigned their partitions waits for ever, and
// restarting all members does not help. A marker ends whatever its producer
// has left open, so the process whose transaction it was makes another one (TestFinish,
// TestPendingOffsets). It commits what the process knows to have been committed, or what
// a record of that transaction shows to have been (TestCommitted), and aborts what
// nobody knows of any more, since the process was restarted: records of one
// transaction may then be processed twice, and none is lost. What is known of a log that
// was cut or made anew since does not count (TestWhatIsKnownOfAnotherLog).
package hanging
