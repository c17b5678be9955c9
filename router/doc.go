// Package router moves each event of raw-events to the topic of every
// destination that shall have it, exactly once: the records read, the records
// written and the group's offsets are one Kafka transaction.
//
// It decides by the record's headers alone (source, integrations map) and the
// workspace; key and value are copied and never parsed. A record whose headers
// cannot be read leaves by the same door as a good one, to dead-letters inside
// the same transaction, so that it is neither skipped nor met again.
//
// # Non-obvious
//
// A transaction is bounded by what it writes (budget). By the events that it reads
// alone, a few thousand for hundreds of destinations took more memory than the
// process has, or longer than its timeout, and then came again. It is filled by
// several polls, since what was polled can't be put back
// (TestATransactionIsBoundedByWhatItWrites).
//
// A partition without a leader answers nothing, and the client waits for it without
// bound. A transaction that takes half of its timeout is looked at, and destinations
// whose topics lack leaders are left out: their events go to dead letters until a
// look finds leaders again (outage; TestAPartitionWithoutALeader,
// TestARemovedDestinationHoldsNobodyUp). A topic that has leaders is left out only
// when it alone ended three transactions in a row, for longer than brokers take to
// replace one that failed: a broker that dies must not cost the destinations on it
// dead letters (TestATopicThatTakesNothing, TestStrikes, TestUnanswered).
//
// A transaction that wrote to a partition before its leader was lost can neither
// commit nor abort until there is one again, and its transactional id is not free
// until then. The router goes on under another id (identity;
// TestATransactionThatDoesNotEnd).
//
// Brokers refuse batches for their size, not records, and the client fails with a
// batch whatever waits for its partition. Only a record that was refused by itself is
// too large; a topic that refused several gets smaller batches from then on, one at
// a time, because the client's bound is for all topics (limits;
// TestOnlyWhatIsTooLargeIsBuried). While that is learned, a refusal does not end the
// transaction: one aborted transaction for each would be paid by all destinations.
//
// Brokers say the same of a rival and of themselves. An epoch that they raised
// because a transaction timed out, and a request of our own that they find behind a
// silence, are no other router's (fence, pulse; TestASilentBrokerIsNoRival).
package router
