// Package personas is the stage that keeps audiences and computed traits: it folds each
// call of raw-events into the state of its user, and tells on raw-events who has entered
// an audience, who has left it, and which computed traits have changed, exactly once.
//
// A transaction is what package runner makes of it: the calls that are told, a record on
// personas-changelog for each user who was changed, one for each partition that was
// touched, and the offsets of both topics that are read. What a user is, and what follows
// from a call or from the passing of time, is the business of internal/engine, which knows
// neither Kafka nor a clock.
//
//	stage, config, personas   the value that declares the stage, its settings, its life
//	processor                 what the runner runs: records, and what a transaction leads to
//	assigned                  partitions come, with the state of their users, and go
//	ticking                   the partitions for which it matters what time it is
//	attended                  the store, and the end of the stage when it fails
//	partition                 a partition of this process, and what a transaction does to it
//	live                      calls and messages, one by one
//	identity                  users who turn out to be one, and messages between their owners
//	turn                      what is done in small steps between them: timers, backfills, sweeps
//	definitions               the workspace's definitions, compiled, and what of them is in force
//	fill                      waiting for what other partitions fill in
//	rewrite                   the changelog kept short where nobody compacts it
//	resync                    telling one destination once more what was told before
//	clock                     the ticks of the partitions' clocks
//	internal/users            profiles in a transaction, in front of internal/store
//	internal/changelog        how far a partition is, and restoring it
//	internal/identity         which ids are one user
//	internal/message, emit    the records that are written
//	internal/backfill         raw-events once more, for new definitions
//
// # Non-obvious
//
// The store is written when a transaction has committed, and only for partitions that are
// still the ones that it began with: one that was lost and came back has been restored to
// a later place (TestExactlyOnce).
//
// Offsets and state are one transaction, so they agree wherever a partition is assigned.
// Where they do not, the assignment is refused: a restore that was cut short looks like
// state, and half of what is told from there on would be wrong (TestAStateThatDoesNotFit).
//
// A partition's clock follows its log: while it has a backlog, it is when the last call
// was taken in that was processed, and else that of the last tick. So a backlog ends no
// membership early, a stage that stands still none at all, and what is processed again has
// the same times (TestABacklogEndsNothing, TestTimers).
//
// A time stamp of the future, by more than brokers' clocks may differ, counts as now: a
// client's clock that is ahead, on brokers that take it, would end everybody's memberships
// (TestACallFromTheFuture).
//
// A tick is as old as its look at the end of the log: who stood still between the two would
// have the clock pass calls that are not processed yet (TestALateTick). Nor may it say when it
// was written, which a network that is silent makes later: it says what time it was at the
// look, by the brokers' clock, which the tick before it has told (TestATickThatArrivesLate).
// The first tick of a process knows no such time and moves no clock, or everybody would leave
// whose calls stand behind its look (TestTheFirstTickArrivesLate).
// The library waits for what is under way although its context has ended: a stage that no broker
// answered could not be stopped until one did, so ticks can be given up
// (TestAStopWhileATickIsUnderWay).
//
// Live calls wait for the transaction before theirs, so what it folds of the past and sweeps is
// bounded while any come. A transaction that has none says nothing: it follows its tick at once,
// before the next call is there (TestAFillLeavesRoom). Nor is one made for what is left while
// others come anyway (TestATickThatIsPutOff), and two parts of raw-events are read at a time, or
// live calls had no core while all partitions begin (row told-personas of test/storm).
//
// When a call was taken in is what its record says, also where that is later than the
// transaction was begun that reads it: it was not once, and who recomputed from the log came
// to other members (TestWhenACallWasTakenIn).
//
// A partition that was never processed begins at its end: what stands before is filled in
// like the history of any definition, and tells where users are, not how they came there
// (TestTheFirstStart).
//
// The state of a user who is merged goes by personas-internal even where both are on one
// partition, so that nothing depends on where they are (TestAnonymousThenIdentified). A
// message is written and taken in transactions, as calls are (TestMergesExactlyOnce).
//
// A call that comes again counts once. Which calls were seen is a function of raw-events
// (internal/seen), live and where a backfill is, and is asked before a call is folded or
// passed on, by the owner of its record. Nothing is remembered without definitions: the
// partitions are assigned anew with the first one (TestCopiesCountOnce).
//
// While nothing is defined nothing is written, not even how far a partition is: its record
// says so once, and the group's offsets hold (TestNothingIsKeptWithoutDefinitions).
//
// An order to delete a user is an event of their own partition, so which sources have seen
// them is known when it is read, and the notifications are in the transaction that forgets
// them (TestADeletionIsToldWhereTheUserWasSeen).
//
// The embedded broker does not compact, so the stage does: a user who has not changed for
// long is written again, and what stood before the round is deleted when the round has been
// committed (TestTheChangelogStaysBounded).
//
// A store that has failed has failed for good, and the partitions that it has are nobody
// else's as long as this process is a member: so the stage ends (TestAStoreThatFails).
//
// A definition is ready only when nobody is overdue, or they would be told of instants at
// which it was not there (TestWhatIsNewWaitsForWhatIsOverdue). If it shares what is filled
// already nothing else would hold it up: so a partition knows which versions are in force, and
// what differs is held until its clock has come to where this process heard of it, and nobody
// is due before (TestDefinitionsChangeWhileTheStageIsAway).
//
// What is read once more may be of users of other partitions, to whom it is forwarded. So who
// has read all waits until every other partition says that it has, too: what it has forwarded
// stands before its answer (TestANewDefinitionWaitsForWhatIsForwarded). And nobody is done
// before all have taken the definition up: so what goes to another partition says which leaves
// are being filled, and who lacks one keeps it until they have it
// (TestPartitionsTakeUpADefinitionOneByOne).
package personas
