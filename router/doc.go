// Package router moves each event of raw-events to the topic of every
// destination that shall have it, exactly once: the records read, the records
// written and the group's offsets are one Kafka transaction. Package runner, below
// internal/kafka/txn, makes the transactions; what is here is what they hold.
//
// It decides by the record's headers alone (source, integrations map) and the
// workspace; key and value are copied and never parsed. A record whose headers
// cannot be read leaves by the same door as a good one, to dead-letters inside
// the same transaction, so that it is neither skipped nor met again.
//
//	router                 the stage: its table of topics, decisions and spans of a transaction
//	decide                 the rule; internal/integrations reads the map of a call
//	route                  the records that follow from it
//	topics                 destinations' topics that can't be written to
//	internal/sources       events of sources that the workspace does not have
//	entries                what the transaction adds to the journal
//	trace, metrics         what is told of it
//
// # Non-obvious
//
// A topic that takes no records costs its destination dead letters, and nobody else
// anything. Where partitions lack leaders, its events go aside until a look finds
// leaders again (TestAPartitionWithoutALeader, TestARemovedDestinationHoldsNobodyUp).
// A topic that has leaders is left out only when it alone keeps transactions from
// ending, for longer than brokers take to replace one that failed: a broker that dies
// must not cost the destinations on it dead letters (TestATopicThatTakesNothing).
//
// What a topic refuses as too large goes to dead-letters, by reference where even that
// is too large (TestTooLargeForATopic), and nothing that merely travelled with it does
// (TestOnlyWhatIsTooLargeIsBuried).
//
// # Destinations that are topics
//
// To be on the topic is all that becomes of an event there, so the topic has what every
// reader of committed records finds once, whatever was aborted
// (TestAnExportHoldsEachEventOnce). The journal's decision names the topic in place of a
// reason: what an event came to stays true when the destination changes its type, and
// releases before pass over it (TestTheJournalTellsWhereAnExportIs). The workspace gives such
// a topic any name, so what a topic is of the table is asked, and not the name.
//
// # Sources
//
// Ingest takes calls for the sources that it knows, and it reads the workspace for
// itself: an event of a source that the workspace does not have proves that the router
// is behind, or that the source was removed since. So it is held for five seconds at
// most, once in a minute (TestWaitsForASource, TestASourceThatIsGoneCostsOneWait), or
// for a quarter of the transaction's timeout where one is open already
// (TestAnEventAheadOfTheWorkspaceIsRoutedWithOthers), and goes to dead-letters then,
// from where a redrive takes it back to raw-events. Who listens to it nobody can say,
// so it does not count as unconnected, which it did, and was gone
// (TestAnEventThatIsAheadOfTheWorkspaceIsRouted, TestAnEventOfAnUnknownSourceGoesAside).
// A source that is there and switched off is unconnected, as it always was.
//
// # The journal
//
// Each transaction writes down what became of each call that it has read, once
// (TestTheJournal, TestARouterThatLosesEverything). A call of which the journal's record is
// refused for its size is counted and passed over, since each transaction would fail of it
// (TestAJournalThatRefuses); a topic that takes nothing at all stops the router.
package router
