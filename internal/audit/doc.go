// Package audit accounts for each accepted call: it reads raw-events, the journal, dead
// letters, the marks of those that were redriven, and what waits, and says of a range of time
// how many calls were delivered, filtered, duplicates, unconnected, given up or are waiting
// at each destination that listened. Whatever none of that holds for is named.
//
//	audit    what is read, and in which order
//	ledger   what is known of a range, and what that comes to
//	take     takes what was read into it, as facts
//	outcome  holds what was sent on against what came of it, and names what is missing
//	calls    the calls of a partition, a bit each
//	fact     one thing that is known of an event at a destination, in 32 bytes
//	piles    sorts facts in bounded memory (package spill)
//	judge    the equation, for one event at one destination
//	report   what it comes to, and print for people
//	glance   what the journal alone says of a while
//	role     what who audits must be allowed
//
// [ledger] and what is below it know no brokers.
//
// # Non-obvious
//
//   - An event that moves while it is looked for must be found. So the groups' progress is
//     asked for first, and the ends of topics later, those that are written earlier before
//     those that follow on them: what a group has finished is in the journal, or behind it
//     on a topic whose end is not fixed yet ([Run]).
//   - A transaction that is open hides what others have written behind it, also the sink's
//     entries in the journal, which is in no transaction. An end is fixed once readers are
//     shown all that stands there (TestAwait in package ranges).
//   - When ingest took a call says nothing of whether it is in the range: one that was redriven
//     onto raw-events is accepted once more. So what waits is passed over by when it was
//     written, which nothing of the range was earlier (TestACallThatWasTakenLongAgo).
//   - What tells attempts apart is where the record stood: the same attempt is journalled
//     twice after a kill, and a retry that was written twice is two records of one event.
//     One that is delivered is delivered, whatever became of its other copies; only where
//     the router sent several calls of one fingerprint do copies have to be counted
//     (TestJudge).
//   - Not to be in the journal is no proof of a loss: it may have been off, or cut. A router
//     tells of all offsets between two, so a call within them without an entry is missing,
//     and one outside is not known. A sink's entries are of no range: where it has written
//     none about a topic at all, it keeps none (TestWhatIsNotKnown).
//   - A partition whose log begins at the range's first record may have been cut within the
//     range, or have been idle for longer than its retention. The journal tells which, unless
//     the range is as old as the retention, so that it may be cut itself.
//   - Of a call, memory holds a bit. What else is known of it is in a pile, whose memory is
//     bounded, and in a file (TestMemoryOfACall). That an audit of ten million calls takes
//     half a minute is BenchmarkAudit's to show; TestACrowd runs the same with fewer.
package audit
