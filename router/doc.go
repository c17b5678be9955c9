// Package router moves each event of raw-events to the topic of every
// destination that shall have it, exactly once: the records read, the records
// written and the group's offsets are one Kafka transaction.
//
// It decides by the record's headers alone (source, integrations map) and the
// workspace; key and value are copied and never parsed. A record whose headers
// cannot be read leaves by the same door as a good one, to dead-letters inside
// the same transaction, so that it is neither skipped nor met again.
//
// Brokers may take a transaction for complete before its end is written everywhere:
// Apache Kafka 4.3.0 to 4.4.0 (KAFKA-20734) do when they restart between the two, since
// their coordinator takes a partition without a leader for a deleted one. Offsets of
// the group then stay pending, whoever is assigned their partitions waits for ever,
// and a restart of all routers changes nothing. A marker ends whatever its producer
// has left open, so the router whose transaction it was makes another one:
// TestATransactionThatTheBrokersForget. It commits what the router knows to have been
// committed, or what a record of that transaction shows to have been, and aborts what
// nobody knows of any more, since the router was started anew: events of one
// transaction may then be routed twice, and none is lost.
package router
