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
// At low rates events wait for company (gathering), twenty milliseconds at most: a
// transaction costs the brokers the same whatever it carries. One that begins as soon
// as the last has ended finds its markers still being written, and the client backs off
// for longer than the wait (TestEventsShareATransaction, TestGathering).
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
//
// Brokers may treat a transaction as complete before its end is written everywhere:
// Apache Kafka 4.3.0 to 4.4.0 (KAFKA-20734) do when they restart between the two, since
// their coordinator treats a partition without a leader as deleted. Offsets of the
// group then stay pending, whoever is assigned their partitions waits for ever, and
// restarting all routers does not help. A marker ends whatever its producer
// has left open, so the router whose transaction it was makes another one:
// TestATransactionThatTheBrokersForget. It commits what the router knows to have been
// committed, or what a record of that transaction shows to have been, and aborts what
// nobody knows of any more, since the router was restarted: events of one
// transaction may then be routed twice, and none is lost.
//
// # Sources
//
// Ingest takes calls for the sources that it knows, and it reads the workspace for
// itself: an event of a source that the workspace does not have proves that the router
// is behind, or that the source was removed since. So it is held for five seconds at
// most, once in a minute (TestWaitsForASource, TestASourceThatIsGoneCostsOneWait), or
// for a quarter of the transaction's timeout where one is open already
// (TestAnEventAheadOfTheWorkspaceIsRoutedWithOthers), and goes to dead-letters then, from where a redrive takes it back to raw-events. Who
// listens to it nobody can say, so it does not count as unconnected, which it did, and
// was gone (TestAnEventThatIsAheadOfTheWorkspaceIsRouted,
// TestAnEventOfAnUnknownSourceGoesAside). A source that is there and switched off is
// unconnected, as it always was.
//
// # Where routing begins
//
// A router that loses its place routes up to thirty days of events again, or none of
// those that came while it was away. Brokers lose it: they forget the offsets of a
// group seven days after its last member has left (offsets.retention.minutes), people
// delete groups, and a log that lost its tail in a power failure ends before them. So
// place decides, as partitions are assigned, by the best evidence there is (begin):
//
//   - The group's offset, where the log holds it. Brokers may go back behind what they
//     had confirmed: Apache Kafka 4.3.0 did once in 33 crashes, by a quarter of an hour,
//     though its log held the later commits. So a router that lives knows how far it was,
//     and goes on there if the mark that it finds is a router's, which go forward alone,
//     and the log is the same. Offsets that were set by hand carry no mark
//     (TestOffsetsThatWentBack).
//   - Else its copy in the group [Bookmark], which brokers are asked to keep for ever.
//     It is written every ten seconds and at an orderly stop. What a killed router had
//     routed since is routed again if the group's offsets are lost too, and only then
//     (TestAGroupWithoutItsOffsetsGoesOnAtTheirCopy).
//   - A commit of a topic that bore the name before tells nothing of the one that bears
//     it now, which is routed from its first event. So commits say of which topic they
//     are: brokers delete a group's with the topic, and the last copy of them, which a
//     router makes as its session ends, counted for the new one, whose first events were
//     passed over without a word (TestATopicMadeAnewThatHasGrown).
//   - An offset beyond the end of the log tells nothing: what was routed may be gone
//     from it, and other events may have come since, in what is left of the log or, where
//     brokers know no ids of topics, in one that was made anew. Each commit says how late
//     the newest event is that was routed; the first later one is where routing goes on,
//     or the end where there is none, and where an earlier release has made the commit
//     (TestAnOffsetBeyondTheEndGoesOnBehindIt).
//   - A partition without any offset beside others that have one was never routed, for
//     a commit comes with its first events (TestTheFirstEventsOfAPartitionAreRouted).
//   - Where no partition has one, an installation is new unless a destination's topic
//     holds a committed record, or has deleted some. That such a topic ends beyond its
//     first offset is no proof: the very first transaction may have been aborted
//     (TestAPredecessorsTransactionIsEndedAtOnce,
//     TestANewInstallationBeginsWithTheFirstEvent).
//   - raw-events that holds nothing, or nothing that is not later than all that
//     destinations' topics have got, was made anew, for more partitions perhaps
//     (TestATopicMadeAnewWhileNoRouterRuns).
//   - Otherwise nobody knows what was routed. What destinations' topics hold does not
//     tell: it is kept for a shorter time than the offsets. To go on would lose events
//     or double them by the million, so the router waits, is not ready, and says what to
//     set (ROUTER_START). Whichever router is told keeps that for all partitions first,
//     and the others follow it (TestNothingIsKnown).
//
// A partition without a leader tells nothing to hold against what is known. With a
// commit it is left to the client, which reports what does not fit once there is a
// leader; without one it is not read until then; and the others are routed meanwhile
// (TestAPartitionOfRawEventsWithoutALeader). ROUTER_START waits for all leaders, since
// a partition that it left out would be taken for one that was never routed
// (TestROUTERSTARTIsForAllPartitions).
//
// A router is unready while it waits, and while a partition stands still for a minute
// with records before it (TestAnOpenTransactionIsSeen).
package router
